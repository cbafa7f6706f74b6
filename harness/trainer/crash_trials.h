// The trials of a crash test: runs resumed from crash states, and runs with
// injected faults.
#ifndef GAUNTLET_HARNESS_TRAINER_CRASH_TRIALS_H_
#define GAUNTLET_HARNESS_TRAINER_CRASH_TRIALS_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/trainer/crash_test.h"
#include "harness/trainer/fault_runs.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/crash_trial.h"
#include "harness/trainer/run/recording.h"
#include "harness/trainer/run/trainer_runs.h"
#include "harness/trainer/verdict/checkpoint_versions.h"
#include "harness/trainer/verdict/result_check.h"

namespace gauntlet {

// Settings shared by all trials of one test.
struct TrialSetting {
  const CrashTestPlan& plan;
  const TrainerRuns& runs;
  const Recording& recording;
  const ResultCheck& check;
  const CheckpointVersions& versions;
  const ForkServer* fork_server = nullptr;  // for resumed runs; may be null
};

struct CrashTrials {
  std::vector<CrashTrial> trials;  // in the order of their operations
  uint64_t equal_states = 0;
  double bounded_states = 0;
  TrialsEnd end = TrialsEnd::kAllTried;
  double seconds = 0;
  std::vector<std::string> notes;
};

// Errors: kResourceExhausted: the disk is full; other errors: those of the
// first trial, if no trial could be run.
Result<CrashTrials> RunCrashTrials(const TrialSetting& setting,
                                   CrashTestProgress& progress);

// Returns the command line that resumes the program.
const std::vector<std::string>& ResumeCommand(const CrashTestPlan& plan);

// Resumes a run in a folder whose directories are as the crash left them.
// `trial` already describes the crash; adds the facts for the verdict to it.
Status ResumeTrial(const TrialSetting& setting, const RunFolder& folder,
                   CrashTrial& trial);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_CRASH_TRIALS_H_
