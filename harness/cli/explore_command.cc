#include "harness/cli/explore_command.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/real/posix_storage.h"
#include "engine/real/real_host.h"
#include "engine/real/system_clock.h"
#include "harness/cli/case_command.h"
#include "harness/cli/crash_states_command.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/explore_base.h"
#include "harness/cli/explore_gaps.h"
#include "harness/cli/explore_progress.h"
#include "harness/cli/explore_text.h"
#include "harness/cli/flags.h"
#include "harness/cli/run_directory.h"
#include "harness/cli/scenario_files.h"
#include "harness/cli/show_command.h"
#include "harness/explore/base_check.h"
#include "harness/explore/campaign.h"
#include "harness/explore/finding_files.h"
#include "harness/run/crash_notice.h"
#include "harness/run/text_file.h"
#include "harness/scenario/scenario.h"
#include "reports/counted.h"
#include "reports/timeline.h"
#include "reports/timeline_table.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// The one case to explore, or why there is none.
struct LoadedBase {
  std::optional<Case> one;
  std::string problem;  // lines
  ExitCode code = ExitCode::kUsage;
};

LoadedBase NoBase(std::string_view problem, ExitCode code) {
  return {.one = std::nullopt,
          .problem = fmt::format("gauntlet explore: {}\n", problem),
          .code = code};
}

// The cases that the filter takes; one that has just this name is meant alone.
std::vector<Case> Fitting(const std::vector<Case>& cases,
                          const std::string& filter) {
  std::vector<Case> fitting;
  for (const Case& one : cases) {
    if (one.name == filter) return {one};
    if (one.name.find(filter) != one.name.npos) fitting.push_back(one);
  }
  return fitting;
}

LoadedBase PickBase(const LoadedFile& loaded, const std::string& name,
                    const std::string& filter) {
  const std::vector<Case> fitting = Fitting(loaded.cases, filter);
  if (fitting.size() == 1) return {.one = fitting.front(), .problem = ""};
  if (fitting.empty()) {
    return NoBase(
        fmt::format("nothing selected: of {} of {} none has {} in "
                    "its name",
                    Counted(loaded.cases.size(), "case"), name, Quoted(filter)),
        ExitCode::kNothingSelected);
  }
  return NoBase(
      fmt::format("{}: expected one case, found {}, such as {} and {}; --name "
                  "picks one",
                  name, fitting.size(), fitting[0].name, fitting[1].name),
      ExitCode::kUsage);
}

LoadedBase LoadBase(const ExploreCommand& command, Console& console) {
  if (command.base_file.empty()) {
    const DemoScenario base = ExploreBase();
    return PickBase(LoadScenarios(base.text, base.name), "the built-in base",
                    command.name_filter);
  }
  PosixStorage storage;
  const Result<std::string> text =
      ReadFile(storage, command.base_file, kMaxScenarioBytes);
  if (!text.ok()) return NoBase(text.status().message(), ExitCode::kUsage);
  const LoadedFile loaded = LoadScenarios(*text, command.base_file);
  console.err << RenderOldSpellings(loaded, command.base_file)
              << RenderWarnings(loaded, command.base_file, *text);
  if (loaded.errors.empty()) {
    return PickBase(loaded, command.base_file, command.name_filter);
  }
  return {.one = std::nullopt,
          .problem = RenderErrors(loaded, command.base_file, *text)};
}

// Looks after what comes before the first case: the base undisturbed, as it is
// and in each set-up, which is as long as the base is. From one thread.
class BaseWatch {
 public:
  // `time` is for that and for all that follows.
  BaseWatch(std::optional<Duration> time, Console& console)
      : time_(time), console_(console) {}

  // Whether to stop: somebody says so, or the time is over before the first
  // case. Says that it is still at it, now and then.
  bool Interrupted() {
    if (host_.TerminationNotices() > 0) return true;
    if (done_) return false;
    const Time now = clock_.Now();
    late_ = late_ || (time_ && now - begin_ >= *time_);
    if (!late_ && now >= next_line_) {
      fmt::print(console_.err,
                 "gauntlet explore: {:.0f}s, still at the undisturbed run of "
                 "the base\n",
                 std::chrono::duration<double>(now - begin_).count());
      console_.err << std::flush;
      next_line_ = now + kLineEvery;
    }
    return late_;
  }
  // It was stopped as the time was over.
  bool late() const { return late_; }
  // The first case comes.
  void Done() { done_ = true; }
  // Of `time`, from now on.
  std::optional<Duration> TimeLeft() const {
    if (!time_) return std::nullopt;
    return std::max(Duration(0), *time_ - (clock_.Now() - begin_));
  }

 private:
  static constexpr Duration kFirstLine = std::chrono::seconds(2);
  static constexpr Duration kLineEvery = std::chrono::seconds(10);

  const std::optional<Duration> time_;
  Console& console_;
  SystemClock clock_;
  RealHost host_;
  const Time begin_ = clock_.Now();
  Time next_line_ = begin_ + kFirstLine;
  bool late_ = false;
  bool done_ = false;
};

// Nullopt: it holds undisturbed, and may be explored.
std::optional<ExitCode> Unfit(const Case& base, References& references,
                              const BaseWatch& watch, Console& console) {
  const Result<BaseCheck> check = CheckBase(base, references);
  if (!check.ok() && watch.late()) {
    fmt::print(
        console.err,
        "gauntlet explore: inconclusive: the undisturbed run of the base, "
        "as it is and in each set-up, takes longer than --time\n");
    return ExitCode::kNoVerdict;
  }
  if (!check.ok() && references.interrupted()()) {
    fmt::print(console.err, "gauntlet explore: interrupted\n");
    return ExitCode::kInterrupted;
  }
  if (!check.ok()) {
    fmt::print(console.err, "gauntlet explore: {}\n", check.status().message());
    return ExitCode::kNoVerdict;
  }
  if (!check->skipped.empty()) {
    fmt::print(console.err,
               "gauntlet explore: {}: the simulated world cannot do it: {}\n",
               base.name, check->skipped);
    return ExitCode::kNoVerdict;
  }
  if (check->wrong.empty()) return std::nullopt;
  fmt::print(console.err,
             "gauntlet explore: {} does not hold undisturbed, so nothing was "
             "tried: {}\n",
             base.name, check->wrong);
  return ExitCode::kViolated;
}

// Whether the command names kinds, and none of them can happen to the base.
bool NamesNoKindOf(const Case& base, const ExploreCommand& command,
                   Console& console) {
  const std::vector<FaultKind>& kinds = command.kinds;
  const bool none = std::ranges::none_of(
      kinds, [&](FaultKind kind) { return CanHappenTo(kind, base); });
  if (kinds.empty() || !none) return false;
  if (IsOfNetwork(kinds.front())) {
    fmt::print(console.err,
               "gauntlet explore: --kinds: {} keeps workers apart: expected a "
               "base with at least 2 workers, found 1\n",
               FaultKindName(kinds.front()));
    return true;
  }
  fmt::print(console.err,
             "gauntlet explore: --kinds: {} needs a device: expected a base "
             "with cluster.device emulated, found {}\n",
             FaultKindName(kinds.front()),
             DeviceKindName(base.train.kernels.device));
  return true;
}

// Whether the command names points, and no set-up made of the base gets to any.
bool NamesNoPointOf(const Case& base, const ExploreCommand& command,
                    Console& console) {
  if (command.points.empty()) return false;
  for (const Case& setup : SetupsOf(base)) {
    const std::vector<Point> met = SpaceOf(setup).points;
    for (const Point point : command.points) {
      if (std::ranges::find(met, point) != met.end()) return false;
    }
  }
  fmt::print(console.err,
             "gauntlet explore: --points: expected some that this base gets "
             "to, found {}\n",
             PointName(command.points.front()));
  return true;
}

// States at each crash point in a mixed exploration, so that a turn is short
// and all crash points have their turn within a minute.
constexpr uint64_t kMixedBound = 16;

// What of the crash states a mixed exploration tries; nullopt: none, as the
// command chooses faults.
std::optional<ExploreCommand> CrashStatesBeside(const ExploreCommand& command) {
  const bool chooses_faults = command.only_case || !command.kinds.empty() ||
                              !command.points.empty() ||
                              command.max_faults != ExploreCommand().max_faults;
  if (command.mode != ExploreMode::kMixed || chooses_faults) {
    return std::nullopt;
  }
  ExploreCommand beside = command;
  beside.cases.reset();
  beside.crash_states.bound = kMixedBound;
  return beside;
}

CampaignOptions OptionsOf(const ExploreCommand& command, uint64_t seed) {
  CampaignOptions options = {.mode = command.mode == ExploreMode::kNth
                                         ? CampaignMode::kNth
                                         : CampaignMode::kRandom,
                             .seed = seed,
                             .only_case = command.only_case,
                             .keep_record = command.trace,
                             .max_cases = command.cases,
                             .time = command.time,
                             .threads = command.jobs,
                             .max_faults = command.max_faults,
                             .kinds = command.kinds,
                             .points = command.points,
                             .twice_every = command.twice_every,
                             .stop_after = command.stop_after,
                             .shrink = {},
                             .command_for = [&command, seed](uint64_t number) {
                               return CommandForCase(command, seed, number);
                             }};
  if (const auto beside = CrashStatesBeside(command)) {
    options.crash_states = CrashStateOptionsOf(*beside);
    options.crash_states->name_of = [beside = *beside](const std::string& id) {
      return fmt::format("crash state {}: {}", id, CommandForImage(beside, id));
    };
  }
  return options;
}

class Explorer final : public CampaignObserver {
 public:
  Explorer(const ExploreCommand& command, uint64_t seed,
           const fs::path& directory, References& references, Console& console)
      : command_(command),
        seed_(seed),
        references_(references),
        console_(console),
        text_(command.output == OutputFormat::kText),
        directory_(directory),
        options_(OptionsOf(command, seed)),
        progress_(clock_, console.err, console.err_style) {}

  Result<int> Run(const Case& base) {
    std::ostream& talk = text_ ? console_.out : console_.err;
    talk << RenderExploreHead(base, command_, seed_) << std::flush;
    base_ = &base;
    ASSIGN_OR_RETURN(const CampaignReport report,
                     RunCampaign(base, options_, references_, clock_, *this));
    progress_.Clear();
    if (text_) {
      console_.out << RenderCampaign(base, report, command_);
      if (report.only_record) {
        console_.out << "\n"
                     << RenderTimeline(TimelineOf(*report.only_record, {}),
                                       TableStyleOf(console_.out_style));
      }
    } else {
      console_.out << CampaignToJson(base, report, {files_, crash_states_},
                                     command_, seed_);
    }
    if (!write_status_.ok()) {
      fmt::print(console_.err, "gauntlet explore: {}\n",
                 write_status_.message());
    }
    return ExitCodeFor(report);
  }

  void Progress(const CampaignReport& report) override {
    progress_.Show(report);
  }

  void Found(const CampaignFinding& finding) override {
    progress_.Clear();
    const Result<FindingFiles> files = WriteFinding(
        finding, CommandForCase(command_, seed_, finding.case_number),
        directory_);
    if (files.ok()) {
      files_.push_back(*files);
    } else {
      write_status_ = files.status();
      files_.push_back(
          {.scenario = {}, .why_no_scenario = files.status().message()});
    }
    std::ostream& talk = text_ ? console_.out : console_.err;
    talk << RenderFound(finding, files_.back()) << std::flush;
  }

  void FoundCrashState(const CrashStateFinding& finding) override {
    progress_.Clear();
    crash_states_.push_back(WriteCrashState(finding, crash_states_.size() + 1,
                                            {.base = *base_,
                                             .options = *options_.crash_states,
                                             .directory = directory_}));
    if (!crash_states_.back().write_status.ok()) {
      write_status_ = crash_states_.back().write_status;
    }
    std::ostream& talk = text_ ? console_.out : console_.err;
    talk << RenderCrashFinding(crash_states_.back()) << std::flush;
  }

  bool Interrupted() override { return host_.TerminationNotices() > 0; }

 private:
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
      fmt::print(console_.err,
                 "gauntlet explore: nothing selected: no fault of these kinds "
                 "means anything at these points\n");
      return static_cast<int>(ExitCode::kNothingSelected);
    }
    const std::vector<std::string_view> missed =
        MissedMarks(report, MarkRarity::kUsual);
    if (command_.require_marks && !missed.empty()) {
      fmt::print(console_.err,
                 "gauntlet explore: coverage goals not reached: {}\n",
                 fmt::join(missed, ", "));
      return static_cast<int>(ExitCode::kViolated);
    }
    if (report.held == 0) {
      fmt::print(console_.err, "gauntlet explore: inconclusive: {}\n",
                 report.cases == 0
                     ? "there was time for no case"
                     : fmt::format("of {} no fault fired",
                                   Counted(report.fired_nothing, "case")));
      return static_cast<int>(ExitCode::kNoVerdict);
    }
    return static_cast<int>(ExitCode::kHeld);
  }

  const ExploreCommand& command_;
  const uint64_t seed_;
  References& references_;
  Console& console_;
  const bool text_;
  const fs::path directory_;
  const CampaignOptions options_;
  const Case* base_ = nullptr;  // of the run
  SystemClock clock_;
  RealHost host_;
  ExploreProgress progress_;
  std::vector<FindingFiles> files_;  // by the findings' order
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
  ExploreCommand rest = command;
  if (command.time_given) rest.time = watch.TimeLeft();
  if (command.mode == ExploreMode::kCrashStates) {
    return ExploreCrashStatesOf(base, rest, directory, references, console);
  }
  const uint64_t seed = command.seed ? *command.seed : std::random_device()();
  const Result<int> exit_code =
      Explorer(rest, seed, directory, references, console).Run(base);
  if (exit_code.ok()) return *exit_code;
  fmt::print(console.err, "gauntlet explore: {}\n",
             exit_code.status().message());
  return static_cast<int>(watch.Interrupted() ? ExitCode::kInterrupted
                                              : ExitCode::kNoVerdict);
}

}  // namespace

int RunExplore(const ExploreCommand& command, Console& console) {
  InstallSignalHandlers();
  InstallCrashNotice();
  const LoadedBase base = LoadBase(command, console);
  if (!base.one) {
    console.err << base.problem;
    return static_cast<int>(base.code);
  }
  const Result<fs::path> directory =
      MakeFindingsDirectory(command.out_directory, command.runs_directory);
  if (!directory.ok()) {
    fmt::print(console.err, "gauntlet explore: {}\n",
               directory.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  BaseWatch watch(command.time_given ? command.time : std::nullopt, console);
  References references("", "explore",
                        [&watch] { return watch.Interrupted(); });
  const int exit_code =
      Explore(*base.one, command, *directory, references, watch, console);
  RemoveIfUnused(*directory, command.runs_directory);
  return exit_code;
}

}  // namespace gauntlet
