#include "harness/cli/explore/explore_command.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/cli/exit_code.h"
#include "engine/real/host/real_host.h"
#include "engine/real/posix/system_clock.h"
#include "engine/text/counted.h"
#include "harness/cli/explore/case_command.h"
#include "harness/cli/explore/crash_states_command.h"
#include "harness/cli/explore/explore_base_case.h"
#include "harness/cli/explore/explore_gaps.h"
#include "harness/cli/explore/explore_interruption.h"
#include "harness/cli/explore/explore_json.h"
#include "harness/cli/explore/explore_progress.h"
#include "harness/cli/explore/explore_report.h"
#include "harness/cli/explore/explore_text.h"
#include "harness/cli/flags/shard_flag.h"
#include "harness/cli/record/show_command.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/explore/campaign/campaign.h"
#include "harness/explore/campaign/finding_files.h"
#include "harness/run/crash_notice.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/scenario.h"
#include "reports/html/page/text.h"
#include "reports/timeline.h"
#include "reports/timeline_table.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Bound on the states at each crash point in a mixed exploration. It is so low
// that the search examines all crash points within a minute.
constexpr uint64_t kMixedBound = 16;

// Returns the command for the crash states of a mixed exploration; nullopt if
// the mode is not kMixed, or if the command chooses faults.
std::optional<ExploreCommand> CrashStatesOfMixed(
    const ExploreCommand& command) {
  const bool chooses_faults = command.only_case || !command.kinds.empty() ||
                              !command.points.empty() ||
                              command.max_faults != ExploreCommand().max_faults;
  if (command.mode != ExploreMode::kMixed || chooses_faults) {
    return std::nullopt;
  }
  ExploreCommand mixed = command;
  mixed.cases.reset();
  mixed.crash_states.max_states = kMixedBound;
  return mixed;
}

CampaignOptions OptionsOf(const ExploreCommand& command, uint64_t seed,
                          std::optional<Duration> time) {
  CampaignOptions options = {.mode = command.mode == ExploreMode::kSweep
                                         ? CampaignMode::kSweep
                                         : CampaignMode::kRandom,
                             .seed = seed,
                             .only_case = command.only_case,
                             .keep_record = command.trace,
                             .first_case = command.first_case,
                             .shard = command.shard,
                             .max_cases = command.cases,
                             .time = time,
                             .threads = command.jobs,
                             .max_faults = command.max_faults,
                             .kinds = command.kinds,
                             .points = command.points,
                             .twice_every = command.verify_determinism_every,
                             .stop_after = command.stop_after,
                             .shrink = {},
                             .command_for = [&command, seed](uint64_t number) {
                               return CommandForCase(command, seed, number);
                             }};
  if (const auto mixed = CrashStatesOfMixed(command)) {
    options.crash_states = CrashStateOptionsOf(*mixed);
    options.crash_states->name_of = [mixed = *mixed](const std::string& id) {
      return fmt::format("crash state {}: {}", id, CommandForImage(mixed, id));
    };
  }
  return options;
}

// Returns the limits of the exploration. In random mode, `cases` is the number
// of cases in this shard.
ExploreLimits LimitsOf(const CampaignOptions& options) {
  ExploreLimits limits = {.time = options.time, .cases = options.max_cases};
  if (options.only_case) limits.cases = 1;
  if (options.mode == CampaignMode::kRandom && options.max_cases) {
    const uint64_t most =
        std::min(*options.max_cases, UINT64_MAX - options.first_case);
    limits.cases =
        options.shard.CountIn(options.first_case, options.first_case + most);
  }
  return limits;
}

// An exploration: its base, its options, and the place of its files.
struct ExploreTask {
  const Case& base;
  const ExploreCommand& command;
  uint64_t seed = 0;
  std::optional<Duration> time;  // time left; nullopt: no limit
  const fs::path& directory;
};

class Explorer final : public CampaignObserver {
 public:
  Explorer(const ExploreTask& task, References& references, Console& console)
      : task_(task),
        command_(task.command),
        references_(references),
        console_(console),
        text_(command_.output == OutputFormat::kText),
        options_(OptionsOf(command_, task.seed, task.time)),
        limits_(LimitsOf(options_)),
        progress_(clock_, console.err, console.err_style) {}

  Result<int> Run() {
    talk() << RenderExploreHead(task_.base, command_, task_.seed) << std::flush;
    ASSIGN_OR_RETURN(
        const CampaignReport report,
        RunCampaign(task_.base, options_, references_, clock_, *this));
    progress_.Clear();
    const CampaignFiles files = {files_, crash_states_};
    if (text_) {
      console_.out << RenderCampaign(task_.base, report, command_);
      if (report.only_record) {
        console_.out << "\n"
                     << RenderTimeline(TimelineOf(*report.only_record, {}),
                                       TableStyleOf(console_.out_style));
      }
    } else {
      console_.out << CampaignToJson(task_.base, report, files, command_,
                                     task_.seed);
    }
    // Flushes standard output, because the next line goes to standard error.
    console_.Flush();
    Close(report, files);
    return ExitCodeFor(report);
  }

  void Progress(const CampaignReport& report) override {
    if (progress_.IsDue()) progress_.Show(StatusOf(report, limits_));
  }

  void Found(const CampaignFinding& finding) override {
    progress_.Clear();
    const Result<FindingFiles> files = WriteFinding(
        finding, CommandForCase(command_, task_.seed, finding.case_number),
        task_.directory);
    if (files.ok()) {
      files_.push_back(*files);
    } else {
      write_status_ = files.status();
      files_.push_back(
          {.scenario = {}, .why_no_scenario = files.status().message()});
    }
    talk() << RenderFound(finding, files_.back()) << std::flush;
  }

  void FoundCrashState(const CrashStateFinding& finding) override {
    progress_.Clear();
    crash_states_.push_back(WriteCrashState(finding, crash_states_.size() + 1,
                                            {.base = task_.base,
                                             .options = *options_.crash_states,
                                             .directory = task_.directory}));
    if (!crash_states_.back().write_status.ok()) {
      write_status_ = crash_states_.back().write_status;
    }
    talk() << RenderCrashFinding(crash_states_.back()) << std::flush;
  }

  bool Interrupted() override {
    if (host_.TerminationNotices() == 0) return false;
    progress_.PrintStopping();
    return true;
  }

 private:
  std::ostream& talk() { return text_ ? console_.out : console_.err; }

  // Writes the report and prints where the files are.
  void Close(const CampaignReport& report, const CampaignFiles& files) {
    const Result<fs::path> written =
        WriteReport(ReportOf({task_.base, command_, task_.seed}, report, files),
                    command_, task_.directory);
    const fs::path page = written.ok() ? *written : fs::path();
    if (write_status_.ok()) write_status_ = written.status();
    if (!write_status_.ok()) {
      fmt::print(console_.err, "gauntlet explore: {}\n",
                 write_status_.message());
    }
    if (report.end == CampaignEnd::kInterrupted) {
      fmt::print(console_.err, "gauntlet explore: {}",
                 Interruption(report, page));
    } else if (!page.empty()) {
      fmt::print(talk(), "  report        {}\n", page.string());
    }
  }

  std::string Interruption(const CampaignReport& report,
                           const fs::path& page) const {
    const bool resumes = command_.mode != ExploreMode::kSweep;
    return RenderInterruption(
        GroupedCount(report.cases, "case"),
        {.findings = files_.size() + crash_states_.size(),
         .directory = task_.directory,
         .report = page},
        fmt::format("{}: {}",
                    resumes ? "resume with" : "start the sweep again with",
                    CommandToResume(command_, task_.seed, report)));
  }

  int ExitCodeFor(const CampaignReport& report) const {
    if (report.end == CampaignEnd::kInterrupted) {
      return static_cast<int>(ExitCode::kInterrupted);
    }
    const bool states_failed =
        report.crash_states && (report.crash_states->images_failed > 0 ||
                                report.crash_states->nondeterministic > 0);
    if (!report.findings.empty() || report.nondeterministic > 0 ||
        states_failed) {
      return static_cast<int>(ExitCode::kViolated);
    }
    if (report.cases == 0 && report.end == CampaignEnd::kExhausted) {
      const ShardChoice& shard = command_.shard;
      fmt::print(console_.err, "gauntlet explore: nothing selected: {}\n",
                 shard.count > 1
                     ? fmt::format("shard {} of {} has no case", shard.index,
                                   shard.count)
                     : "no fault of these kinds means anything at these "
                       "points");
      return static_cast<int>(ExitCode::kNothingSelected);
    }
    const std::vector<std::string_view> missed =
        MissedGoals(report, GoalRarity::kUsual);
    if (command_.require_goals && !missed.empty()) {
      fmt::print(console_.err,
                 "gauntlet explore: coverage goals not reached: {}\n",
                 fmt::join(missed, ", "));
      return static_cast<int>(ExitCode::kViolated);
    }
    if (report.passed == 0) {
      fmt::print(console_.err, "gauntlet explore: inconclusive: {}\n",
                 report.cases == 0
                     ? "there was time for no case"
                     : fmt::format("of {} no fault fired",
                                   Counted(report.fired_nothing, "case")));
      return static_cast<int>(ExitCode::kNoVerdict);
    }
    // If a file could not be written, Close has printed the error.
    return static_cast<int>(write_status_.ok() ? ExitCode::kOk
                                               : ExitCode::kNoVerdict);
  }

  const ExploreTask& task_;
  const ExploreCommand& command_;
  References& references_;
  Console& console_;
  const bool text_;
  const CampaignOptions options_;
  const ExploreLimits limits_;
  SystemClock clock_;
  RealHost host_;
  ExploreProgress progress_;
  std::vector<FindingFiles> files_;  // in the order of the findings
  std::vector<WrittenCrashFinding> crash_states_;
  Status write_status_;
};

int Explore(const Case& base, const ExploreCommand& command,
            const fs::path& directory, References& references, BaseWatch& watch,
            Console& console) {
  if (NamesNoKindOf(base, command, console) ||
      NamesNoPointOf(base, command, console)) {
    return static_cast<int>(ExitCode::kUsage);
  }
  if (const auto unfit = Unfit(base, references, watch, console)) {
    return static_cast<int>(*unfit);
  }
  watch.Done();
  const std::optional<Duration> time =
      command.time_given ? watch.TimeLeft() : command.time;
  if (command.mode == ExploreMode::kCrashStates) {
    return ExploreCrashStatesOf({.base = base,
                                 .command = command,
                                 .time = time,
                                 .directory = directory},
                                references, console);
  }
  const ExploreTask task = {
      .base = base,
      .command = command,
      .seed = command.seed ? *command.seed : std::random_device()(),
      .time = time,
      .directory = directory};
  const Result<int> exit_code = Explorer(task, references, console).Run();
  if (exit_code.ok()) return *exit_code;
  fmt::print(console.err, "gauntlet explore: {}\n",
             exit_code.status().message());
  return static_cast<int>(watch.Interrupted() ? ExitCode::kInterrupted
                                              : ExitCode::kNoVerdict);
}

}  // namespace

namespace {

// If the command has no shard, sets the one that a test runner's variables
// select. A command for a single case ignores these variables.
Result<ExploreCommand> InItsShard(ExploreCommand command) {
  const bool one_case = command.only_case || !command.crash_states.id.empty();
  if (command.shard.count > 1 || one_case) return command;
  ASSIGN_OR_RETURN(command.shard, ShardFromEnvironment([](const char* name) {
                     return std::getenv(name);
                   }));
  if (command.shard.count == 1 || command.seed) return command;
  return InvalidArgument(
      "a test runner divides this into shards: expected --seed N, the same for "
      "all, found random");
}

}  // namespace

int RunExplore(const ExploreCommand& given, Console& console) {
  InstallSignalHandlers();
  ExitOnSecondInterrupt(static_cast<int>(ExitCode::kInterrupted));
  InstallCrashNotice();
  const Result<ExploreCommand> in_shard = InItsShard(given);
  if (!in_shard.ok()) {
    fmt::print(console.err, "gauntlet explore: {}\n",
               in_shard.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  const ExploreCommand& command = *in_shard;
  const LoadedBase base = LoadBase(command, console);
  if (!base.one) {
    console.err << base.problem;
    return static_cast<int>(base.code);
  }
  const Result<OutputFolder> folder =
      MakeFindingsDirectory(command.out_directory, command.runs_directory,
                            command.first_case > 0 ? EarlierFindings::kKeep
                                                   : EarlierFindings::kRefuse);
  if (!folder.ok()) {
    fmt::print(console.err, "gauntlet explore: {}\n",
               folder.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  BaseWatch watch(command.time_given ? command.time : std::nullopt, console);
  References references("", "explore",
                        [&watch] { return watch.Interrupted(); });
  const int exit_code =
      Explore(*base.one, command, folder->path, references, watch, console);
  RemoveIfUnused(folder->path, command.runs_directory);
  return exit_code;
}

}  // namespace gauntlet
