#include "harness/cli/run_command.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "engine/digest.h"
#include "engine/real/posix_storage.h"
#include "engine/real/real_host.h"
#include "harness/cli/case_list.h"
#include "harness/cli/case_selection.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/output_places.h"
#include "harness/cli/run_directory.h"
#include "harness/cli/run_report.h"
#include "harness/cli/shell_word.h"
#include "harness/explore/replay.h"
#include "harness/record/result_file.h"
#include "harness/run/case_data.h"
#include "harness/run/crash_notice.h"
#include "harness/run/suite.h"
#include "harness/run/text_file.h"
#include "harness/scenario/scenario.h"
#include "reports/counted.h"
#include "reports/junit.h"
#include "reports/terminal.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kThisProgram = "/proc/self/exe";

// What this build is: results of another one may differ.
std::string BuildId() { return DigestOf(ReadTextFile(kThisProgram)).Short(); }

// Made beside and renamed, so that there is always one.
Status LinkLatest(const fs::path& runs, const std::string& id) {
  std::error_code error;
  const fs::path link = runs / (id + ".link");
  fs::create_directory_symlink(id, link, error);
  if (!error) fs::rename(link, runs / "latest", error);
  if (!error) return OkStatus();
  return IoError(fmt::format("{}/latest: {}", runs.string(), error.message()));
}

int ExitCodeFor(const RunResult& result, const RunCommand& command) {
  const int code = ExitCodeOf(result);
  if (code == 0 && command.strict && CountVerdicts(result).skipped > 0) {
    return static_cast<int>(ExitCode::kSkippedUnderStrict);
  }
  return code;
}

Status SaveResult(const RunResult& result, const fs::path& directory,
                  const std::string& junit_copy) {
  const std::string junit = RenderJunit(result);
  RETURN_IF_ERROR(
      WriteTextFile(directory / "result.json", ResultToJson(result)));
  RETURN_IF_ERROR(WriteTextFile(directory / "junit.xml", junit));
  if (junit_copy.empty()) return OkStatus();
  return WriteTextFile(junit_copy, junit);
}

// Operations are looked into by another run; where that is impossible, the
// findings have to do.
Explanation Explain(const Case& one, const Record& record,
                    References& references) {
  Result<Explanation> found = ExplainTrajectory(one, record, references);
  return found.ok() ? *std::move(found) : Explanation();
}

class Runner {
 public:
  Runner(const RunCommand& command, Console& console)
      : command_(command),
        console_(console),
        text_(command.output == OutputFormat::kText),
        colour_(console.out_style.colored() ? Colour::kOn : Colour::kOff) {}

  // `directory` is the run's own.
  Result<int> Run(uint64_t scenarios, const std::vector<SuiteItem>& items,
                  const fs::path& directory) {
    RunResult result = {
        .seed = command_.seed, .build = BuildId(), .scenarios = scenarios};
    const fs::path runs = directory.parent_path();
    result.run = directory.filename().string();
    if (text_) {
      fmt::print(console_.out, "{}, {}, run {}\n",
                 Counted(scenarios, "scenario"), Counted(items.size(), "case"),
                 result.run);
      console_.out << std::flush;
    }
    const auto begin = std::chrono::steady_clock::now();
    result.cases = RunSuite(
        items,
        {.jobs = command_.jobs,
         .max_failures = command_.max_failures,
         .program = kThisProgram,
         .directory = directory,
         .cache_directory = runs / ".cache",
         .build = result.build,
         .replay =
             [&](const SuiteItem& item) { return ReplayOf(item, result.run); },
         .slow = [&](const SuiteItem& item) { ShowSlow(item, items); },
         .interrupted = [&] { return host_.TerminationNotices() > 0; },
         .explain = Explain},
        [&](const CaseResult& one) { Show(one, NameWidth(items)); });
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    const size_t ran = result.cases.size();
    const bool interrupted = host_.TerminationNotices() > 0;
    AddThoseLeft(items,
                 std::string(interrupted ? kWasInterrupted
                                         : "not run: enough had failed"),
                 result.cases);
    result.not_run = result.cases.size() - ran;
    for (CaseResult& one : result.cases) AddTrace(one);
    Conclude(result, ran);
    RETURN_IF_ERROR(SaveResult(result, directory, command_.junit_file));
    RETURN_IF_ERROR(WriteReport(command_, result, directory));
    const Status linked = LinkLatest(runs, result.run);
    if (interrupted) {
      fmt::print(console_.err,
                 "gauntlet run: interrupted after {} of {} cases\n", ran,
                 items.size());
      return static_cast<int>(ExitCode::kInterrupted);
    }
    const int code = ExitCodeFor(result, command_);
    // A case that failed is worse news than a link that could not be set.
    if (code == static_cast<int>(ExitCode::kHeld)) RETURN_IF_ERROR(linked);
    if (!linked.ok()) {
      fmt::print(console_.err, "gauntlet run: {}\n", linked.message());
    }
    return code;
  }

 private:
  // The command that repeats the item of this run.
  std::string ReplayOf(const SuiteItem& item, const std::string& run) const {
    const bool real = item.world == WorldKind::kReal;
    const bool elsewhere =
        command_.runs_directory != RunCommand().runs_directory;
    std::string command =
        "gauntlet replay " + ShellWord(run + "/" + item.one.name);
    if (real) command += " --world real";
    if (elsewhere) command += " --runs " + ShellWord(command_.runs_directory);
    return command;
  }
  // What was left has no verdict: --last-failed takes it up.
  static void AddThoseLeft(const std::vector<SuiteItem>& items,
                           const std::string& why,
                           std::vector<CaseResult>& cases) {
    std::set<std::pair<std::string, std::string>> ran;
    for (const CaseResult& one : cases) ran.emplace(one.name, one.world);
    for (const SuiteItem& item : items) {
      const std::string world(WorldKindName(item.world));
      if (ran.contains({item.one.name, world})) continue;
      cases.push_back(
          {.name = item.one.name,
           .scenario = item.one.scenario,
           .file = item.one.file,
           .line = item.one.line,
           .world = world,
           .verdict = {.kind = VerdictKind::kError, .reason = why}});
    }
  }

  void Show(const CaseResult& one, size_t width) {
    if (!text_) return;
    console_.out << RenderCaseLine(one, width, colour_) << std::flush;
  }

  void ShowSlow(const SuiteItem& item, const std::vector<SuiteItem>& items) {
    const double limit =
        std::chrono::duration<double>(item.one.timeouts.slow).count();
    console_.err << RenderSlowLine(item.one.name,
                                   std::string(WorldKindName(item.world)),
                                   limit, NameWidth(items))
                 << std::flush;
  }

  // Of the cases, the first `ran` have a story.
  void Conclude(const RunResult& result, size_t ran) {
    if (!text_) {
      console_.out << ResultToJson(result);
      return;
    }
    for (const CaseResult& one : std::span(result.cases).first(ran)) {
      if (one.verdict.kind == VerdictKind::kFail ||
          one.verdict.kind == VerdictKind::kError) {
        console_.out << '\n' << RenderFailure(one, colour_);
      }
    }
    console_.out << '\n' << RenderSummary(result, colour_);
  }

  const RunCommand& command_;
  Console& console_;
  RealHost host_;
  const bool text_;
  const Colour colour_;
};

Result<int> LoadAndRun(const RunCommand& command, Console& console) {
  ASSIGN_OR_RETURN(
      const LoadedScenarios loaded,
      command.demo ? Result(LoadDemo()) : LoadScenarioFiles(command.paths));
  console.err << loaded.notes;
  if (!loaded.errors.empty()) {
    console.err << loaded.errors;
    return static_cast<int>(ExitCode::kUsage);
  }
  ASSIGN_OR_RETURN(const std::vector<SuiteItem> items,
                   SelectCases(command, loaded.cases, [](const char* name) {
                     return std::getenv(name);
                   }));
  if (items.empty()) {
    fmt::print(console.err, "gauntlet run: nothing selected of {}\n",
               Counted(loaded.cases.size(), "case"));
    return static_cast<int>(command.nothing_selected == NothingSelected::kPasses
                                ? ExitCode::kHeld
                                : ExitCode::kNothingSelected);
  }
  if (command.lists) {
    console.out << (command.output == OutputFormat::kJson
                        ? CaseListToJson(items)
                        : RenderCaseList(items));
    return static_cast<int>(ExitCode::kHeld);
  }

  PosixStorage storage;
  CaseDataChecker data(storage);
  for (const SuiteItem& item : items) RETURN_IF_ERROR(data.Check(item.one));

  ASSIGN_OR_RETURN(const fs::path runs, AbsoluteFolder(command.runs_directory));
  const Result<fs::path> made = MakeRunDirectory(runs);
  if (!made.ok()) {
    return InvalidArgument(made.status().message() +
                           "; --runs DIR says another place");
  }
  const fs::path& directory = *made;
  if (const Status junit = CheckOutputFile(command.junit_file); !junit.ok()) {
    std::error_code ignored;
    fs::remove(directory, ignored);
    return Annotate(junit, "--junit");
  }
  const Result<int> code =
      Runner(command, console).Run(loaded.scenarios, items, directory);
  if (code.ok()) return code;
  fmt::print(console.err, "gauntlet run: {}\n", code.status().message());
  return static_cast<int>(ExitCode::kNoVerdict);
}

}  // namespace

int RunScenarios(const RunCommand& command, Console& console) {
  InstallSignalHandlers();
  InstallCrashNotice();
  const Result<int> exit_code = LoadAndRun(command, console);
  if (exit_code.ok()) return *exit_code;
  fmt::print(console.err, "gauntlet run: {}\n", exit_code.status().message());
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace gauntlet
