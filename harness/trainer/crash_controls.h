// Runs without a fault, which show that verdicts mean something.
#ifndef GAUNTLET_HARNESS_TRAINER_CRASH_CONTROLS_H_
#define GAUNTLET_HARNESS_TRAINER_CRASH_CONTROLS_H_

#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/trainer/crash_findings.h"
#include "harness/trainer/crash_test.h"
#include "harness/trainer/crash_test_plan.h"
#include "harness/trainer/crash_test_result.h"
#include "harness/trainer/recording.h"
#include "harness/trainer/result_check.h"
#include "harness/trainer/trainer_runs.h"

namespace gauntlet {

struct Controls {
  std::vector<CrashControl> controls;
  ResumeControl resume = ResumeControl::kEqual;
  std::vector<std::string> left_out;  // files, and why, one line each
  // Empty: the program repeats. Else why there can be no verdicts, one line.
  std::string no_verdict;
};

// 1. A second run from the beginning. Files that differ are left out, unless
//    the plan names the results.
// 2. A run that is stopped between two saves and resumed. Files that differ
//    and are not tensors, such as logs, are left out, if there are others.
//
// Errors: those of TrainerRuns::Run and of the disk.
Result<Controls> RunControls(const CrashTestPlan& plan, const TrainerRuns& runs,
                             const Recording& recording, ResultCheck& check,
                             CrashTestProgress& progress);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_CRASH_CONTROLS_H_
