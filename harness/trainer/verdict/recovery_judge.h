// Judges the crashes of one training program.
//
// A version of a checkpoint is complete from the first operation after which a
// killed run resumed from it and ended with equal results. A kill must not lose
// a complete version. A power loss may lose a version that is not yet durable:
// it must be durable once the next version is begun, or the program has ended.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_

#include <cstdint>
#include <vector>

#include "harness/trainer/run/crash_trial.h"

namespace gauntlet {

// Returns the verdicts in the order of the trials, also on each of their equal
// crashes: a later crash, or a kill, must not lose what an earlier crash, or a
// power loss, may lose. `operations`: number of operations in the recording.
std::vector<CrashVerdict> JudgeTrials(const std::vector<CrashTrial>& trials,
                                      uint64_t operations);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_
