// Verdicts on the crashes of one training program.
//
// A version of a checkpoint is complete from the first operation after which a
// killed run resumed from it and ended with equal results. A kill loses nothing
// that was complete. A power loss may lose a version until the program goes on:
// it must be durable once the next version is begun, or the program has ended.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_

#include <cstdint>
#include <vector>

#include "harness/trainer/run/crash_trial.h"

namespace gauntlet {

// `operations`: how many the recording has. The verdicts are in the order of
// the trials.
std::vector<CrashVerdict> JudgeTrials(const std::vector<CrashTrial>& trials,
                                      uint64_t operations);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_
