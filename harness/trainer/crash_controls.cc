#include "harness/trainer/crash_controls.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "chaos/crash/crash_state.h"
#include "chaos/crash/directory_builder.h"
#include "engine/text/counted.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/crash_trials.h"
#include "harness/trainer/text/program_output.h"
#include "harness/trainer/verdict/checkpoint_versions.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kSecondRun = "second run";
constexpr std::string_view kStopAndResume = "stop and resume";
constexpr std::string_view kEqualResults = "equal results";
constexpr size_t kMostStops = 4;

class ControlRuns {
 public:
  ControlRuns(const CrashTestPlan& plan, const TrainerRuns& runs,
              const Recording& recording, ResultCheck& check)
      : plan_(plan), runs_(runs), recording_(recording), check_(check) {}

  Status SecondRun() {
    const std::string name(kSecondRun);
    ASSIGN_OR_RETURN(const RunFolder folder, runs_.NewFolder("second-run"));
    ASSIGN_OR_RETURN(const Outcome outcome, Run(folder, plan_.command));
    TrainerRuns::Remove(folder);
    if (!outcome.failure.empty()) {
      found_.controls.push_back({name, false, outcome.failure});
      found_.no_verdict =
          "a second run from the beginning fails: " + outcome.failure;
      return OkStatus();
    }
    if (outcome.IsEqual()) {
      found_.controls.push_back({name, true, std::string(kEqualResults)});
      return OkStatus();
    }
    found_.controls.push_back({name, false, outcome.FirstLine()});
    if (LeaveOut(outcome.differences.files, kSecondRun)) return OkStatus();
    found_.no_verdict =
        "two undisturbed runs end with different results: " +
        outcome.FirstLine() +
        " (fix the seeds, or choose what is compared with --result)";
    return OkStatus();
  }

  Status StopAndResume() {
    for (const uint64_t point : recording_.QuietPoints(kMostStops)) {
      ASSIGN_OR_RETURN(
          const RunFolder folder,
          FolderAfterKill(runs_, recording_, point,
                          fmt::format("stop-and-resume-{}", point)));
      ASSIGN_OR_RETURN(const Outcome outcome,
                       Run(folder, ResumeCommand(plan_)));
      const bool recovers = outcome.IsEqual() || LeaveOutLogs(outcome);
      if (recovers || stops_.empty()) {
        Keep({.run = folder, .end = outcome.end, .point = point});
      } else {
        TrainerRuns::Remove(folder);
      }
      stops_.push_back(
          {.point = point, .outcome = outcome, .recovers = recovers});
      if (recovers || outcome.end.is_timed_out) break;
    }
    if (stops_.empty()) return OkStatus();
    found_.controls.push_back({std::string(kStopAndResume),
                               stops_.back().outcome.IsEqual(), StopsText()});
    found_.differing_stops = DifferingStops();
    return CheckStep(*found_.stop_and_resume);
  }

  Controls Take() { return std::move(found_); }

 private:
  struct Outcome {
    TrainerRunEnd end;
    std::string failure;            // "" if the run ended well
    ResultDifferences differences;  // not known after a failure
    bool IsEqual() const {
      return failure.empty() && differences.lines.empty();
    }
    // Returns the failure, or else the first difference.
    const std::string& FirstLine() const {
      return failure.empty() ? differences.lines.front() : failure;
    }
  };
  struct Stop {
    uint64_t point = 0;
    Outcome outcome;
    bool recovers = false;  // equal results, or only logs differed
  };

  Result<Outcome> Run(const RunFolder& folder,
                      const std::vector<std::string>& command) {
    Outcome outcome;
    ASSIGN_OR_RETURN(
        outcome.end,
        runs_.Run(folder, {.arguments = command,
                           .time_limit = RunTimeLimit(plan_, recording_.end)}));
    outcome.failure = FailureOf(outcome.end, folder);
    if (!outcome.failure.empty()) return outcome;
    ASSIGN_OR_RETURN(outcome.differences, check_.Compare(folder));
    return outcome;
  }

  // Leaves the given files out of the comparison, because they differ in the
  // run called `name`. Returns false and leaves out none if the plan names the
  // results, or if no file would remain.
  bool LeaveOut(const std::vector<std::string>& files, std::string_view name) {
    const bool may_leave_out = plan_.results.empty() &&
                               plan_.result_command.empty() &&
                               files.size() < check_.file_count();
    if (!may_leave_out) return false;
    for (const std::string& file : files) {
      found_.left_out.push_back(
          fmt::format("{}: it differs in the {}", file, name));
    }
    check_.LeaveOut(files);
    return true;
  }

  // Leaves the files that differ out of the comparison if all of them only
  // grow. Returns false if one of them does more than grow, or if LeaveOut
  // returns false.
  bool LeaveOutLogs(const Outcome& outcome) {
    if (!outcome.failure.empty()) return false;
    const std::vector<std::string>& files = outcome.differences.files;
    const std::set<std::string> logs = GrowingFiles(recording_.log);
    return std::ranges::all_of(
               files,
               [&](const std::string& file) { return logs.contains(file); }) &&
           LeaveOut(files, kStopAndResume);
  }

  void Keep(ResumedRun run) {
    if (found_.stop_and_resume)
      TrainerRuns::Remove(found_.stop_and_resume->run);
    found_.stop_and_resume = std::move(run);
  }

  // Returns "equal results", "equal results after operation 17, not after
  // operation 13 (a: 1 of 9 bytes differs)" or "after operations 13, 21: a: …".
  std::string StopsText() const {
    const Stop& last = stops_.back();
    if (last.recovers && !last.outcome.IsEqual())
      return last.outcome.FirstLine();
    if (last.recovers && stops_.size() == 1) return std::string(kEqualResults);
    std::vector<uint64_t> others;
    for (const Stop& stop : stops_) {
      if (!stop.recovers) others.push_back(stop.point);
    }
    std::ranges::sort(others);
    const std::string& first = stops_.front().outcome.FirstLine();
    if (!last.recovers)
      return fmt::format("after {}: {}", OperationsText(others), first);
    return fmt::format("{} after operation {}, not after {} ({})",
                       kEqualResults, last.point, OperationsText(others),
                       first);
  }

  std::vector<uint64_t> DifferingStops() const {
    std::vector<uint64_t> differing;
    if (stops_.back().recovers) return differing;
    for (const Stop& stop : stops_) {
      if (stop.outcome.failure.empty()) differing.push_back(stop.point);
    }
    std::ranges::sort(differing);
    return differing;
  }

  Status CheckStep(const ResumedRun& resumed) const {
    // The run must print a step, unless it failed or read no file.
    const bool is_step_unknown =
        EndedWell(resumed.end) && !resumed.end.reads.empty() &&
        plan_.resumed_step &&
        !plan_.resumed_step->Find(ReadTextFile(resumed.run.output()));
    if (!is_step_unknown) return OkStatus();
    return InvalidArgument(
        "--step-regex: expected an expression that a line of a resumed run "
        "matches, found none in the run that was stopped and resumed");
  }

  const CrashTestPlan& plan_;
  const TrainerRuns& runs_;
  const Recording& recording_;
  ResultCheck& check_;
  std::vector<Stop> stops_;  // in the order tried
  Controls found_;
};

}  // namespace

std::string FailureOf(const TrainerRunEnd& end, const RunFolder& folder) {
  if (end.is_timed_out)
    return fmt::format("it had not ended after {:.0f} s", end.seconds);
  if (EndedWell(end)) return "";
  return fmt::format("{}: {}", ExitText(end),
                     LastLine(ReadTextFile(folder.output())));
}

Result<RunFolder> FolderAfterKill(const TrainerRuns& runs,
                                  const Recording& recording, uint64_t point,
                                  const std::string& name) {
  ASSIGN_OR_RETURN(RunFolder folder, runs.NewFolder(name));
  const std::filesystem::path cache = folder.folder / "contents";
  RETURN_IF_ERROR(MakeDirectories(cache));
  DirectoryBuilder builder(recording.log, {.cache = cache.string()});
  RETURN_IF_ERROR(
      builder.Build({.kind = CrashStateKind::kKill, .operations = point},
                    {folder.out().string(), folder.temporary().string()}));
  return folder;
}

Result<Controls> RunControls(const CrashTestPlan& plan, const TrainerRuns& runs,
                             const Recording& recording, ResultCheck& check,
                             CrashTestProgress& progress) {
  ControlRuns control(plan, runs, recording, check);
  progress.OnStage(kSecondRun);
  RETURN_IF_ERROR(control.SecondRun());
  progress.OnStage(kStopAndResume);
  RETURN_IF_ERROR(control.StopAndResume());
  return control.Take();
}

}  // namespace gauntlet
