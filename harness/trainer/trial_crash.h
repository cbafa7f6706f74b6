// The crash of a trial, and the equal crashes that leave the same directories.
#ifndef GAUNTLET_HARNESS_TRAINER_TRIAL_CRASH_H_
#define GAUNTLET_HARNESS_TRAINER_TRIAL_CRASH_H_

#include <cstdint>
#include <vector>

#include "chaos/crash/crash_state.h"
#include "chaos/crash/crash_state_list.h"
#include "engine/status.h"
#include "harness/trainer/file_patterns.h"
#include "harness/trainer/run/crash_trial.h"

namespace gauntlet {

CrashFault FaultOfState(CrashStateKind kind);

// Sets the operation at which the fault happened, the pattern of its file, and
// its rank. `number`: from 1; 0: before the first operation.
void SetPlace(const FilePatterns& files, uint64_t number, CrashTrial& trial);

// Sets the fields that describe the crash. Errors: those of the log.
Status DescribeCrash(const FilePatterns& files, const CrashState& state,
                     CrashTrial& trial);

// Adds the crashes that `states` has considered so far and that leave the same
// directories as the crash of the trial.
void AddEqualCrashes(const CrashStateList& states, CrashTrial& trial);

// Makes the first of CrashesOf (equal_crashes.h) the crash of each trial, and
// sorts the trials by their operations. `verdicts`: one for each trial. Errors:
// those of the log.
Status NameBySimplestCrash(const OperationLog& log,
                           const std::vector<CrashVerdict>& verdicts,
                           std::vector<CrashTrial>& trials);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_TRIAL_CRASH_H_
