// Runs without a fault, which show that verdicts mean something.
#ifndef GAUNTLET_HARNESS_TRAINER_CRASH_CONTROLS_H_
#define GAUNTLET_HARNESS_TRAINER_CRASH_CONTROLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/trainer/crash_test.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/recording.h"
#include "harness/trainer/run/trainer_runs.h"
#include "harness/trainer/run/trial.h"
#include "harness/trainer/verdict/crash_findings.h"
#include "harness/trainer/verdict/crash_test_result.h"
#include "harness/trainer/verdict/result_check.h"

namespace gauntlet {

// A run from the crash state of a kill after `point` operations.
struct ResumedRun {
  RunFolder run;  // with its results
  TrialEnd end;
  uint64_t point = 0;
};

struct Controls {
  std::vector<CrashControl> controls;
  ResumeControl resume = ResumeControl::kEqual;
  // nullopt: there was none. Whoever takes it removes its folder.
  std::optional<ResumedRun> stop_and_resume;
  std::vector<std::string> left_out;  // files, and why, one line each
  // Empty: the program repeats. Else why there can be no verdicts, one line.
  std::string no_verdict;
};

// 1. A second run from the beginning. Files that differ are left out, unless
//    the plan names the results.
// 2. A run that is stopped between two saves and resumed. Files that differ
//    and only grow, such as logs, are left out, if there are others.
//
// Errors: those of TrainerRuns::Run and of the disk.
Result<Controls> RunControls(const CrashTestPlan& plan, const TrainerRuns& runs,
                             const Recording& recording, ResultCheck& check,
                             CrashTestProgress& progress);

// A new folder of this name, with the directories as a kill after `point`
// operations leaves them. Errors: those of the disk and of the log.
Result<RunFolder> FolderAfterKill(const TrainerRuns& runs,
                                  const Recording& recording, uint64_t point,
                                  const std::string& name);

// "exit code 1: its last line"; empty: it ended well.
std::string FailureOf(const TrialEnd& end, const RunFolder& folder);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_CRASH_CONTROLS_H_
