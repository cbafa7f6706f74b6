#include "harness/cli/run/run_command.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/cli/exit_code.h"
#include "engine/cli/output_file.h"
#include "engine/real/host/real_host.h"
#include "engine/real/posix/blocked_signals.h"
#include "engine/real/posix/system_clock.h"
#include "engine/real/process/child_process.h"
#include "engine/text/counted.h"
#include "harness/cli/crash_test/crash_test_files.h"
#include "harness/cli/program/build_id.h"
#include "harness/cli/report/github_outputs.h"
#include "harness/cli/report/run_report.h"
#include "harness/cli/run/case_list.h"
#include "harness/cli/run/run_progress.h"
#include "harness/cli/run/run_time_left.h"
#include "harness/cli/run_folders/old_runs.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/cli/scenario/case_selection.h"
#include "harness/explore/diagnosis/divergence.h"
#include "harness/explore/diagnosis/replay.h"
#include "harness/record/record_file.h"
#include "harness/record/result/result_file.h"
#include "harness/run/crash_notice.h"
#include "harness/run/failure/inconclusive_advice.h"
#include "harness/run/files/shell_word.h"
#include "harness/run/files/text_file.h"
#include "harness/run/suite.h"
#include "harness/scenario/scenario.h"
#include "reports/ci/markdown_summary.h"
#include "reports/failures.h"
#include "reports/junit.h"
#include "reports/terminal.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <signal.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

int ExitCodeFor(const RunResult& result, const RunCommand& command) {
  if (result.cases.empty()) return static_cast<int>(ExitCode::kOk);
  const int code = ExitCodeOf(result);
  if (code == 0 && command.strict && CountCases(result).skipped > 0) {
    return static_cast<int>(ExitCode::kSkippedUnderStrict);
  }
  return code;
}

// Explains a failed trajectory by running the case again. If the case cannot be
// run, returns an empty explanation, and the report has only the findings.
Explanation Explain(const Case& one, const Record& record,
                    References& references) {
  Result<Explanation> found = ExplainTrajectory(one, record, references);
  return found.ok() ? *std::move(found) : Explanation();
}

// Returns the result of the run before this one; empty if there is none.
RunResult EarlierResult(const fs::path& runs) {
  const fs::path file = runs / "latest" / kResultFileName;
  Parsed<RunResult> earlier = ReadResult(ReadTextFile(file), file.string());
  return earlier.ok() ? std::move(*earlier.value) : RunResult();
}

// Adds the items that did not run, without a verdict, so that --last-failed
// runs them.
void AddItemsNotRun(const std::vector<SuiteItem>& items, const std::string& why,
                    std::vector<CaseResult>& cases) {
  std::set<std::pair<std::string, std::string>> ran;
  for (const CaseResult& one : cases) ran.emplace(one.name, one.world);
  for (const SuiteItem& item : items) {
    const std::string world(WorldKindName(item.world));
    if (ran.contains({item.one.name, world})) continue;
    cases.push_back({.name = item.one.name,
                     .scenario = item.one.scenario,
                     .file = item.one.file,
                     .line = item.one.line,
                     .world = world,
                     .verdict = {.kind = VerdictKind::kNotRun, .reason = why}});
  }
}

// Writes the names of the cases. If this process is killed, --last-failed reads
// them. Errors are ignored: the run works without this file.
void WriteUnfinished(const std::vector<SuiteItem>& items, RunResult result,
                     const fs::path& directory) {
  AddItemsNotRun(items, "the run was killed", result.cases);
  static_cast<void>(
      WriteTextFile(directory / kUnfinishedFileName, ResultToJson(result)));
}

// Returns true iff a case ran, and each case that ran has its record in its
// folder.
bool HasRecords(const RunResult& result) {
  bool has_one = false;
  for (const CaseResult& one : result.cases) {
    if (one.verdict.kind == VerdictKind::kNotRun) continue;
    if (!IsFile(fs::path(one.directory) / kRecordFileName)) return false;
    has_one = true;
  }
  return has_one;
}

// Calls `tick` ten times a second from construction to destruction.
class Ticker {
 public:
  explicit Ticker(std::function<void()> tick)
      : tick_(std::move(tick)),
        thread_([this](const std::stop_token& stop) { Tick(stop); }) {}

 private:
  void Tick(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, std::chrono::milliseconds(100),
                             [&] { return stop.stop_requested(); })) {
      tick_();
    }
  }

  const std::function<void()> tick_;
  std::jthread thread_;  // last member, so that it stops first
};

class Runner {
 public:
  // `directory` is the folder of this run.
  Runner(const RunCommand& command, const Selection& selected,
         const fs::path& directory, Console& console)
      : command_(command),
        items_(selected.items),
        becomes_latest_(!items_.empty() || selected.is_shard),
        directory_(directory),
        console_(console),
        text_(command.output == OutputFormat::kText),
        colour_(console.out_style.colored() ? Colour::kOn : Colour::kOff),
        draws_(text_ && console.err_style.animates()),
        progress_(clock_, console,
                  draws_ ? ProgressChoice::kAuto : ProgressChoice::kOff,
                  items_.size(),
                  RunTimeLeft(items_, command.jobs,
                              draws_ ? EarlierResult(directory.parent_path())
                                     : RunResult())) {}

  // `result`: the facts of the run, without any case.
  Result<int> Run(RunResult result) {
    if (text_) {
      progress_.Print(fmt::format("{}, {}, run {}\n",
                                  Counted(result.scenarios, "scenario"),
                                  Counted(items_.size(), "case"), result.run));
    }
    RunCases(result);
    const size_t ran = result.cases.size();
    const bool interrupted =
        host_.TerminationNotices() > 0 && ran < items_.size();
    AddItemsNotRun(items_, WhyNotRun(interrupted), result.cases);
    for (CaseResult& one : result.cases) AddTrace(one);
    const Status written = WriteRunFiles(result, directory_);
    PrintResults(result, ran);
    if (!written.ok() && !disk_full_) PrintMissingFiles(written, result);
    if (!IsFolderOfRun(directory_)) {
      // result.json could not be written, so the run counts as unfinished.
      if (interrupted) PrintInterruption(ran);
      if (disk_full_) PrintDiskFull(ran);
      return interrupted ? static_cast<int>(ExitCode::kInterrupted)
                         : ExitCodeWithoutResult(result);
    }
    std::error_code ignored;
    fs::remove(directory_ / kUnfinishedFileName, ignored);
    const Status published = Publish(result);
    if (interrupted) PrintInterruption(ran);
    if (disk_full_) PrintDiskFull(ran);
    if (!interrupted) RemoveOld();
    const int code = interrupted ? static_cast<int>(ExitCode::kInterrupted)
                                 : ExitCodeFor(result, command_);
    // If a case failed, returns the exit code for that, even if a file could
    // not be written.
    if (code == static_cast<int>(ExitCode::kOk)) RETURN_IF_ERROR(published);
    if (code == static_cast<int>(ExitCode::kOk) && !written.ok()) {
      return static_cast<int>(ExitCode::kNoVerdict);
    }
    if (!published.ok()) {
      fmt::print(console_.err, "gauntlet run: {}\n", published.message());
    }
    return code;
  }

 private:
  // Sets the link `latest`, if the run takes it, and writes the copies of
  // results for other tools. Returns the first error. The files of the run are
  // already written.
  Status Publish(const RunResult& result) const {
    Status first = becomes_latest_
                       ? LinkLatest(directory_.parent_path(), result.run)
                       : OkStatus();
    if (command_.github && first.ok()) {
      first = PostToGithub(result, GithubStepOfEnvironment(), console_);
    }
    if (command_.junit_file.empty()) return first;
    const Status junit =
        WriteTextFile(command_.junit_file, RenderJunit(result));
    return first.ok() ? junit : first;
  }

  void RunCases(RunResult& result) {
    const auto begin = std::chrono::steady_clock::now();
    const Ticker ticker([this] { Tick(); });
    result.cases = RunSuite(
        items_,
        {.jobs = command_.jobs,
         .max_failures = command_.max_failures,
         .program = kThisProgram,
         .directory = directory_,
         .cache_directory = directory_.parent_path() / ".cache",
         .build = result.build,
         .replay =
             [&](const SuiteItem& item) { return ReplayOf(item, result.run); },
         .begins = [this](const SuiteItem& item) { progress_.Begin(item); },
         .phase = [this](const SuiteItem& item,
                         CasePhase phase) { progress_.SetPhase(item, phase); },
         .slow = [this](const SuiteItem& item) { ShowSlow(item); },
         .interrupted = [this] { return host_.TerminationNotices() > 0; },
         .disk_full = [this] { disk_full_ = true; },
         .explain = Explain,
         .needs_search =
             [](const Record& record) {
               return FirstDeparture(record).has_value();
             },
         .run_trainer = RunTrainerCase,
         .retries = command_.retries,
         .flaky = command_.flaky},
        [this](const CaseResult& one) { Show(one); });
    progress_.Stop();
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
  }

  void Tick() {
    if (!draws_) return;
    if (host_.TerminationNotices() == 0) {
      progress_.Redraw();
    } else if (!printed_notice_) {
      printed_notice_ = true;
      progress_.PrintMessage(
          "gauntlet run: interrupted, saving what has run; Ctrl-C again ends "
          "at once\n");
      progress_.Stop();
    }
  }

  // Returns the command that repeats the item of this run.
  std::string ReplayOf(const SuiteItem& item, const std::string& run) const {
    const bool real = item.world == WorldKind::kReal;
    const bool elsewhere =
        command_.runs_directory != RunCommand().runs_directory;
    // A crash test has no record to replay: it runs again.
    std::string command =
        item.one.trainer
            ? fmt::format("gauntlet run {} -k {}", ShellWord(item.one.file),
                          ShellWord(item.one.name))
            : "gauntlet replay " + ShellWord(run + "/" + item.one.name);
    if (real) command += " --world real";
    if (elsewhere) command += " --runs " + ShellWord(command_.runs_directory);
    return command;
  }

  std::string WhyNotRun(bool interrupted) const {
    if (interrupted) return std::string(kWasInterrupted);
    return disk_full_ ? "the folder of the run had no space left"
                      : "enough cases had failed";
  }

  // Returns the exit code of a run whose result could not be written.
  int ExitCodeWithoutResult(const RunResult& result) const {
    const int code = ExitCodeFor(result, command_);
    return code == static_cast<int>(ExitCode::kOk)
               ? static_cast<int>(ExitCode::kNoVerdict)
               : code;
  }

  void Show(const CaseResult& one) {
    progress_.End(one);
    if (text_) progress_.Print(RenderCaseLine(one, NameWidth(items_), colour_));
  }

  void ShowSlow(const SuiteItem& item) {
    const double limit =
        std::chrono::duration<double>(item.one.timeouts.slow).count();
    progress_.PrintMessage(RenderSlowLine(
        item.one.name, std::string(WorldKindName(item.world)), limit,
        NameWidth(items_), ActivityOf(progress_.PhaseOf(item))));
  }

  // Prints the results. Only the first `ran` cases ran and can be explained.
  void PrintResults(const RunResult& result, size_t ran) {
    if (!text_) {
      console_.out << ResultToJson(result);
      return;
    }
    for (const CaseResult& one : std::span(result.cases).first(ran)) {
      if (NeedsExplanation(one)) {
        console_.out << '\n'
                     << RenderFailure(one, colour_,
                                      console_.out_style.wrap_columns());
      }
    }
    const fs::path page = directory_ / kReportFileName;
    if (IsFile(page)) {
      console_.out << '\n' << RenderReportLine(page.string());
    }
    console_.out << '\n' << RenderSummary(result, colour_);
    if (!command_.durations) return;
    const uint64_t most = *command_.durations;
    console_.out << RenderSlowest(result,
                                  most == 0 ? result.cases.size() : most);
  }

  // Prints that --last-failed runs the cases that were not run and those that
  // failed.
  void PrintInterruption(size_t ran) {
    // Flushes standard output, so that this line of standard error comes last
    // on a terminal.
    console_.Flush();
    const CaseCounts counts = progress_.counts();
    const std::string came_to = RenderCounts(counts, Colour::kOff);
    const bool some_failed =
        counts.failed + counts.flaky + counts.inconclusive > 0;
    fmt::print(console_.err,
               "gauntlet run: interrupted after {} of {} cases{}{}; results "
               "and report in {}/{}. Run the remaining cases{}: {} "
               "--last-failed\n",
               ran, items_.size(), came_to.empty() ? "" : ": ", came_to,
               command_.runs_directory, directory_.filename().string(),
               some_failed ? " and those that failed" : "",
               CommandOf(command_));
  }

  // Prints which files of the run could not be written, and what to do.
  void PrintMissingFiles(const Status& why, const RunResult& result) const {
    std::vector<std::string_view> missing;
    for (const std::string_view name :
         {kResultFileName, kJunitFileName, kReportFileName, kSummaryFileName}) {
      if (!IsFile(directory_ / name)) missing.push_back(name);
    }
    const bool elsewhere =
        command_.runs_directory != RunCommand().runs_directory;
    const std::string judge =
        "gauntlet judge " + result.run +
        (elsewhere ? " --runs " + ShellWord(command_.runs_directory) : "");
    std::string advice(AdviceOnMachineError(why.message()));
    if (advice.empty()) advice = "repeat the run";
    if (HasRecords(result)) {
      advice = fmt::format(
          ". Its records are there: {} computes the verdicts again; or {}",
          judge, advice);
    } else {
      advice = "; " + advice;
    }
    fmt::print(console_.err, "gauntlet run: run {} has no {}: {}{}: {}\n",
               result.run, fmt::join(missing, ", "), why.message(), advice,
               CommandOf(command_));
  }

  // Prints that the disk is full. `ran`: number of cases with a verdict.
  void PrintDiskFull(size_t ran) {
    const bool all_ran = ran == items_.size();
    fmt::print(console_.err,
               "gauntlet run: no space left in {} after {} of {}. Free space "
               "there and {}: {}{}; or choose another folder with --runs DIR\n",
               directory_.string(), ran, Counted(items_.size(), "case"),
               all_ran ? "repeat the run" : "run the remaining cases",
               CommandOf(command_), all_ran ? "" : " --last-failed");
  }

  void RemoveOld() {
    if (!command_.keep_runs) return;
    const RunsRemoved old =
        RemoveOldRuns(directory_.parent_path(), *command_.keep_runs);
    if (old.removed > 0) {
      fmt::print(console_.err, "gauntlet run: removed {}, {} kept\n",
                 Counted(old.removed, "old run"), old.kept);
    }
    if (!old.problem.empty()) {
      fmt::print(console_.err,
                 "gauntlet run: note: cannot remove an old run: {}; "
                 "--keep-runs all keeps them\n",
                 old.problem);
    }
  }

  const RunCommand& command_;
  const std::vector<SuiteItem>& items_;
  // False if no case is selected: a mistyped -k hides no result. An empty shard
  // still becomes `latest`, as CI jobs copy the result of each shard from it.
  const bool becomes_latest_;
  const fs::path directory_;
  Console& console_;
  RealHost host_;
  SystemClock clock_;
  const bool text_;
  const Colour colour_;
  const bool draws_;
  RunProgress progress_;
  bool printed_notice_ = false;  // used by the ticker's thread only
  std::atomic<bool> disk_full_{false};
};

// Runs the items in a new folder.
Result<int> RunItems(const RunCommand& command, const Selection& selected,
                     uint64_t scenarios, Console& console) {
  ASSIGN_OR_RETURN(const fs::path runs, AbsoluteFolder(command.runs_directory));
  // A second Ctrl-C ends the process. SIGINT is blocked until the names of the
  // cases are in the folder, so that no empty folder is left. No other thread
  // of this process receives signals.
  std::optional<BlockedSignals> hold(std::in_place, SIGINT);
  if (RealHost().TerminationNotices() > 0) {
    fmt::print(console.err,
               "gauntlet run: interrupted before the first case; nothing was "
               "written\n");
    return static_cast<int>(ExitCode::kInterrupted);
  }
  const Result<fs::path> made = MakeRunDirectory(runs);
  if (!made.ok()) return ChooseAnotherFolder(made.status(), "--runs");
  const fs::path& directory = *made;
  if (const Status junit = CheckOutputFile(command.junit_file); !junit.ok()) {
    std::error_code ignored;
    fs::remove(directory, ignored);
    return Annotate(junit, "--junit");
  }
  const RunLock lock(directory);
  const RunResult before = {.run = directory.filename().string(),
                            .seed = command.seed,
                            .build = BuildId(),
                            .command = CommandOf(command),
                            .scenarios = scenarios};
  // --last-failed takes up a killed run with this file. Without cases, there is
  // nothing to take up.
  if (!selected.items.empty()) {
    WriteUnfinished(selected.items, before, directory);
  }
  hold.reset();
  const Result<int> code =
      Runner(command, selected, directory, console).Run(before);
  if (code.ok()) return code;
  fmt::print(console.err, "gauntlet run: {}\n", code.status().message());
  return static_cast<int>(ExitCode::kNoVerdict);
}

Result<int> LoadAndRun(const RunCommand& command, Console& console) {
  ASSIGN_OR_RETURN(
      const LoadedScenarios loaded,
      command.demo ? Result(LoadDemo()) : LoadScenarioFiles(command.paths));
  if (!loaded.errors.empty()) {
    console.err << TextOf(loaded.notes) << loaded.errors;
    return static_cast<int>(ExitCode::kUsage);
  }
  ASSIGN_OR_RETURN(const Selection selected,
                   SelectCases(command, loaded.cases, [](const char* name) {
                     return std::getenv(name);
                   }));
  const std::vector<SuiteItem>& items = selected.items;
  console.err << TextOfSelected(loaded.notes, items);
  if (!selected.note.empty()) {
    fmt::print(console.err, "gauntlet run: note: {}\n", selected.note);
  }
  if (items.empty()) {
    fmt::print(console.err, "gauntlet run: nothing selected of {}{}\n",
               Counted(selected.of, "case"), selected.hint);
    // An empty shard still writes a result, so that nobody takes the result of
    // an earlier run for it.
    if (command.nothing_selected == NothingSelected::kFails) {
      return static_cast<int>(ExitCode::kNothingSelected);
    }
  }
  if (command.lists) {
    console.out << (command.output == OutputFormat::kJson
                        ? CaseListToJson(items)
                        : RenderCaseList(items));
    return static_cast<int>(ExitCode::kOk);
  }

  std::vector<const Case*> cases;
  for (const SuiteItem& item : items) cases.push_back(&item.one);
  if (const std::string error = DataError(cases); !error.empty()) {
    console.err << error;
    return static_cast<int>(ExitCode::kUsage);
  }

  return RunItems(command, selected, loaded.scenarios, console);
}

}  // namespace

int RunScenarios(const RunCommand& command, Console& console) {
  InstallSignalHandlers();
  ExitOnSecondInterrupt(static_cast<int>(ExitCode::kInterrupted));
  InstallCrashNotice();
  const Result<int> exit_code = LoadAndRun(command, console);
  if (exit_code.ok()) return *exit_code;
  fmt::print(console.err, "gauntlet run: {}\n", exit_code.status().message());
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace gauntlet
