// Judges the crashes of one training program.
//
// A version of a checkpoint becomes complete at an operation: the first one
// after which a killed run resumes from the version and ends with equal
// results. A kill after that operation must not lose the version. A power loss
// may lose the version until the next one is begun or the program ends. From
// then on, it must be durable.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_

#include <cstdint>
#include <vector>

#include "harness/trainer/run/crash_trial.h"

namespace gauntlet {

// Returns a verdict for each trial, in their order. It includes verdicts on the
// trial's equal crashes, which may differ: the same loss may be permitted to a
// power loss and not to a kill, or to an earlier crash and not to a later one.
// `end`: the last crash point of the recording; after it, the program has
// ended.
std::vector<CrashVerdict> JudgeTrials(const std::vector<CrashTrial>& trials,
                                      uint64_t end);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_
