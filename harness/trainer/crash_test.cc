#include "harness/trainer/crash_test.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/trainer/chosen_crashes.h"
#include "harness/trainer/crash_controls.h"
#include "harness/trainer/crash_trials.h"
#include "harness/trainer/fault_runs.h"
#include "harness/trainer/finding_folder.h"
#include "harness/trainer/fork_server_controls.h"
#include "harness/trainer/run/recording.h"
#include "harness/trainer/run/trainer_command.h"
#include "harness/trainer/run/trainer_runs.h"
#include "harness/trainer/trial_crash.h"
#include "harness/trainer/verdict/checkpoint_versions.h"
#include "harness/trainer/verdict/crash_findings.h"
#include "harness/trainer/verdict/recovery_judge.h"
#include "harness/trainer/verdict/result_check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

CrashTestResult Describe(const CrashTestPlan& plan, const TrainerRuns& runs,
                         const Recording& recording) {
  CrashTestResult result{.command = ShellCommand(plan.command),
                         .resume_command = ShellCommand(ResumeCommand(plan)),
                         .version = plan.version,
                         .seed = plan.seed,
                         .operations = recording.log.operations().size(),
                         .crash_points = recording.CrashPoints().size(),
                         .bytes = recording.BytesWritten(),
                         .seconds = recording.end.seconds,
                         .logs = GrowingFiles(recording.log),
                         .notes = recording.end.notes};
  result.notes.push_back(
      "all runs have PYTHONHASHSEED=0 and a TMPDIR of their own");
  if (std::string note = NoteOnRankDeath(plan, recording); !note.empty())
    result.notes.push_back(std::move(note));
  if (runs.isolation() == Isolation::kNone) {
    result.notes.push_back(
        fmt::format("{}: one trial at a time, in place, with the network of "
                    "this machine; fork server off",
                    runs.why_not_isolated()));
  }
  return result;
}

// Returns how the plan's resume_command failed in the control, which stops and
// resumes the program without a fault: "exit code 2: no such file". Returns ""
// if the plan has no resume_command, or if it did not fail.
std::string FailureOfResumeCommand(const CrashTestPlan& plan,
                                   const Controls& controls) {
  if (plan.resume_command.empty() || !controls.stop_and_resume) return "";
  return FailureOf(controls.stop_and_resume->end,
                   controls.stop_and_resume->run);
}

// Returns the reason why the test has no verdict: no run resumed from a
// checkpoint, so the test has shown nothing. Returns "" if it has a verdict.
// `resume_failure`: that of FailureOfResumeCommand.
std::string ReasonForNoVerdict(const CrashTestResult& result,
                               const std::string& resume_failure) {
  if (!result.findings.empty() ||
      std::ranges::any_of(result.trials, RecoveredFromCheckpoint)) {
    return "";
  }
  switch (result.trials_end) {
    case TrialsEnd::kAllTried:
      if (!resume_failure.empty()) {
        return "no run resumed from a checkpoint: the command of --resume "
               "failed: " +
               resume_failure;
      }
      return "no run resumed from a checkpoint: is an option of the program "
             "missing, or --resume COMMAND?";
    case TrialsEnd::kLimit:
      return "no run resumed from a checkpoint yet: allow more --time, or "
             "--trials";
    case TrialsEnd::kError:
      return "no run resumed from a checkpoint before the test ended early";
    case TrialsEnd::kInterrupted:
      break;
  }
  return "";
}

// Removes the folders of all runs except the recording.
void RemoveRuns(const Recording& recording,
                const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path kept = recording.run.folder;
  std::filesystem::remove_all(recording.ContentsFolder(), ignored);
  std::filesystem::directory_iterator entry(folder / "runs", ignored);
  const std::filesystem::directory_iterator end;
  for (; !ignored && entry != end; entry.increment(ignored)) {
    std::error_code error;
    if (entry->path() != kept) std::filesystem::remove_all(*entry, error);
  }
}

}  // namespace

Result<CrashTestResult> RunCrashTest(const CrashTestPlan& plan,
                                     const RunHost& host,
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
  const bool resumes =
      controls.stop_and_resume && !controls.stop_and_resume->end.reads.empty();
  const std::string resume_failure = FailureOfResumeCommand(plan, controls);
  progress.OnStage("fork server");
  ASSIGN_OR_RETURN(
      const ForkServerChoice fork,
      ChooseForkServer(plan, runs, recording, check, controls.stop_and_resume));
  if (!fork.note.empty()) result.notes.push_back(fork.note);
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
  result.trials_end = trials.end;
  result.trial_seconds = trials.seconds;
  result.notes.insert(result.notes.end(), trials.notes.begin(),
                      trials.notes.end());
  const uint64_t end = recording.CrashPoints().back();
  RETURN_IF_ERROR(NameBySimplestCrash(
      recording.log, JudgeTrials(result.trials, end), result.trials));
  result.verdicts = JudgeTrials(result.trials, end);
  result.findings =
      GroupFindings(result.trials, result.verdicts, controls.differing_stops);
  // If the plan names crashes, they may come before the first checkpoint, so
  // their runs need not resume from one.
  if (!NamesCrashes(plan) || !resumes)
    result.no_verdict = ReasonForNoVerdict(result, resume_failure);
  const Status written = WriteFindings(setting, result, folder);
  if (!written.ok())
    result.notes.push_back("findings are not written: " + written.message());
  RemoveRuns(recording, folder);
  return result;
}

}  // namespace gauntlet
