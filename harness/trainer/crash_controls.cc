#include "harness/trainer/crash_controls.h"

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

class ControlRuns {
 public:
  ControlRuns(const CrashTestPlan& plan, const TrainerRuns& runs,
              const Recording& recording, ResultCheck& check)
      : plan_(plan), runs_(runs), recording_(recording), check_(check) {}

  Status SecondRun() {
    ASSIGN_OR_RETURN(const RunFolder folder, runs_.NewFolder("second-run"));
    RETURN_IF_ERROR(
        Run(folder, plan_.command, std::string(kSecondRun)).status());
    TrainerRuns::Remove(folder);
    return OkStatus();
  }

  Status StopAndResume() {
    const uint64_t point = recording_.QuietPoint();
    if (point == 0) return OkStatus();
    ASSIGN_OR_RETURN(
        const RunFolder folder,
        FolderAfterKill(runs_, recording_, point, "stop-and-resume"));
    ASSIGN_OR_RETURN(TrainerRunEnd end, Run(folder, ResumeCommand(plan_),
                                            std::string(kStopAndResume)));
    found_.stop_and_resume =
        ResumedRun{.run = folder, .end = std::move(end), .point = point};
    // A run that failed, or that read no file, need not print a step.
    const TrainerRunEnd& ended = found_.stop_and_resume->end;
    const bool is_step_unknown =
        EndedWell(ended) && !ended.reads.empty() && plan_.resumed_step &&
        !plan_.resumed_step->Find(ReadTextFile(folder.output()));
    if (!is_step_unknown) return OkStatus();
    return InvalidArgument(
        "--step-regex: expected an expression that a line of a resumed run "
        "matches, found none in the run that was stopped and resumed");
  }

  Controls Take() { return std::move(found_); }

 private:
  Result<TrainerRunEnd> Run(const RunFolder& folder,
                            const std::vector<std::string>& command,
                            const std::string& name) {
    ASSIGN_OR_RETURN(
        TrainerRunEnd end,
        runs_.Run(folder, {.arguments = command,
                           .time_limit = RunTimeLimit(plan_, recording_.end)}));
    RETURN_IF_ERROR(Judge(end, folder, name));
    return end;
  }

  Status Judge(const TrainerRunEnd& end, const RunFolder& folder,
               const std::string& name) {
    const std::string failure = FailureOf(end, folder);
    if (!failure.empty()) {
      found_.controls.push_back({name, false, failure});
      if (name == kSecondRun)
        found_.no_verdict = "a second run from the beginning fails: " + failure;
      return OkStatus();
    }
    ASSIGN_OR_RETURN(const ResultDifferences differences,
                     check_.Compare(folder));
    if (differences.lines.empty()) {
      found_.controls.push_back({name, true, "equal results"});
      return OkStatus();
    }
    found_.controls.push_back({name, false, differences.lines.front()});
    if (!LeaveOut(differences, name)) found_.resume = ResumeControl::kDiffers;
    return OkStatus();
  }

  // Leaves differing files out of the comparison. Returns false if that is not
  // possible, as when the plan names the results.
  bool LeaveOut(const ResultDifferences& differences, const std::string& name) {
    const bool is_second_run = name == kSecondRun;
    std::vector<std::string> files = differences.files;
    if (!is_second_run) {
      const std::set<std::string> logs = GrowingFiles(recording_.log);
      std::erase_if(
          files, [&](const std::string& file) { return !logs.contains(file); });
    }
    const bool may_leave_out = plan_.results.empty() &&
                               plan_.result_command.empty() &&
                               files.size() == differences.files.size() &&
                               files.size() < check_.file_count();
    if (may_leave_out) {
      for (const std::string& file : files) {
        found_.left_out.push_back(
            fmt::format("{}: it differs in the {}", file, name));
      }
      check_.LeaveOut(files);
      return true;
    }
    // If a resumed run never has equal results, that is a finding. If two
    // undisturbed runs differ, there can be no verdicts.
    if (is_second_run) {
      found_.no_verdict =
          "two undisturbed runs end with different results: " +
          differences.lines.front() +
          " (fix the seeds, or choose what is compared with --result)";
    }
    return false;
  }

  const CrashTestPlan& plan_;
  const TrainerRuns& runs_;
  const Recording& recording_;
  ResultCheck& check_;
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
