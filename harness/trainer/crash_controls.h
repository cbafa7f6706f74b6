// Controls of a crash test: runs without faults, which show that verdicts are
// meaningful.
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
#include "harness/trainer/run/trainer_run.h"
#include "harness/trainer/run/trainer_runs.h"
#include "harness/trainer/verdict/crash_findings.h"
#include "harness/trainer/verdict/crash_test_result.h"
#include "harness/trainer/verdict/result_check.h"

namespace gauntlet {

// A run resumed from the crash state of a kill after `point` operations.
struct ResumedRun {
  RunFolder run;  // includes the results
  TrainerRunEnd end;
  uint64_t point = 0;
};

struct Controls {
  std::vector<CrashControl> controls;
  // Stops, as numbers of operations, after which the resumed program gave
  // different results. Ascending. Empty if another stop gave equal results.
  std::vector<uint64_t> differing_stops;
  // The resumed run with equal results, or else the first resumed run. nullopt:
  // none was run. The caller removes the folder of the run.
  std::optional<ResumedRun> stop_and_resume;
  std::vector<std::string> left_out;  // files not compared, with reasons
  // "" if the program is reproducible; else the reason why there are no
  // verdicts, one line.
  std::string no_verdict;
};

// Runs the controls:
// 1. A second run from the beginning. Files that differ are left out of the
//    comparison, unless the plan names the results.
// 2. A run that is stopped, most likely between two saves, and resumed. Files
//    that differ are left out of the comparison if all of them only grow, as
//    logs do, and if the comparison keeps other files. If the results are not
//    equal, the stop may have come within a save. Then stops elsewhere are
//    tried, until one gives equal results.
//
// Errors: those of TrainerRuns::Run and of the disk.
Result<Controls> RunControls(const CrashTestPlan& plan, const TrainerRuns& runs,
                             const Recording& recording, ResultCheck& check,
                             CrashTestProgress& progress);

// Creates a new folder of this name, with the directories in the state that a
// kill after `point` operations leaves. Errors: those of the disk and of the
// log.
Result<RunFolder> FolderAfterKill(const TrainerRuns& runs,
                                  const Recording& recording, uint64_t point,
                                  const std::string& name);

// Returns why the run failed: "it had not ended after 20 s", or its exit code
// or signal and the last line of its output. "" if the run ended well.
std::string FailureOf(const TrainerRunEnd& end, const RunFolder& folder);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_CRASH_CONTROLS_H_
