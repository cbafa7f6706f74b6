#include "harness/trainer/crash_test.h"

#include <utility>

#include "harness/trainer/checkpoint_versions.h"
#include "harness/trainer/crash_controls.h"
#include "harness/trainer/crash_findings.h"
#include "harness/trainer/crash_trials.h"
#include "harness/trainer/finding_folder.h"
#include "harness/trainer/fork_server_controls.h"
#include "harness/trainer/recording.h"
#include "harness/trainer/recovery_judge.h"
#include "harness/trainer/result_check.h"
#include "harness/trainer/trainer_command.h"
#include "harness/trainer/trainer_runs.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

CrashTestResult Describe(const CrashTestPlan& plan, const TrainerRuns& runs,
                         const Recording& recording) {
  CrashTestResult result{.command = ShellCommand(plan.command),
                         .resume_command = ShellCommand(ResumeCommand(plan)),
                         .seed = plan.seed,
                         .operations = recording.log.operations().size(),
                         .crash_points = recording.CrashPoints().size(),
                         .bytes = recording.BytesWritten(),
                         .seconds = recording.end.seconds,
                         .notes = recording.end.notes};
  result.notes.push_back(
      "all runs have PYTHONHASHSEED=0 and a TMPDIR of their own");
  if (runs.isolation() == Isolation::kNone) {
    result.notes.push_back(
        fmt::format("{}: one trial at a time, in place, with the network of "
                    "this machine",
                    runs.why_not_isolated()));
  }
  return result;
}

}  // namespace

Result<CrashTestResult> RunCrashTest(const CrashTestPlan& plan,
                                     const TrialHost& host,
                                     const std::filesystem::path& folder,
                                     CrashTestProgress& progress) {
  progress.OnStage("recording");
  ASSIGN_OR_RETURN(const TrainerRuns runs,
                   TrainerRuns::Make(plan, host, folder));
  ASSIGN_OR_RETURN(const Recording recording, Record(runs, plan));
  CrashTestResult result = Describe(plan, runs, recording);
  ASSIGN_OR_RETURN(ResultCheck check,
                   ResultCheck::Make(plan, runs, recording.run));
  ASSIGN_OR_RETURN(Controls controls,
                   RunControls(plan, runs, recording, check, progress));
  result.controls = std::move(controls.controls);
  result.left_out = std::move(controls.left_out);
  result.compared = check.Compared();
  result.no_verdict = std::move(controls.no_verdict);
  if (!result.no_verdict.empty()) return result;
  progress.OnStage("fork server");
  ASSIGN_OR_RETURN(
      const ForkServerChoice fork,
      ChooseForkServer(plan, runs, recording, check, controls.stop_and_resume));
  result.notes.push_back(fork.note);
  ASSIGN_OR_RETURN(const CheckpointVersions versions,
                   CheckpointVersions::Of(recording.log, plan.checkpoints));
  const TrialSetting setting{.plan = plan,
                             .runs = runs,
                             .recording = recording,
                             .check = check,
                             .versions = versions,
                             .fork_server = fork.server.get()};
  progress.OnStage("crash states");
  ASSIGN_OR_RETURN(CrashTrials trials, RunCrashTrials(setting, progress));
  result.trials = std::move(trials.trials);
  result.equal_states = trials.equal_states;
  result.bounded_states = trials.bounded_states;
  result.is_complete = trials.is_complete;
  result.is_interrupted = trials.is_interrupted;
  result.trial_seconds = trials.seconds;
  result.notes.insert(result.notes.end(), trials.notes.begin(),
                      trials.notes.end());
  result.verdicts = JudgeTrials(result.trials, result.operations);
  result.findings =
      GroupFindings(result.trials, result.verdicts, controls.resume);
  RETURN_IF_ERROR(WriteFindings(setting, result, folder));
  return result;
}

}  // namespace gauntlet
