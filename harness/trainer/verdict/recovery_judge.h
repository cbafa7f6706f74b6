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

// Returns a verdict for each trial, in their order. It includes a verdict on
// each of the trial's equal crashes. These verdicts may differ: a power loss
// may lose a version that a kill must not lose, and an earlier crash may lose a
// version that a later one must not lose. `end`: the last crash point of the
// recording; after it, the program has ended.
std::vector<CrashVerdict> JudgeTrials(const std::vector<CrashTrial>& trials,
                                      uint64_t end);

// Returns true iff the run read the last file of a series in the order of their
// names as text, though another one was newer and has the higher number:
// "ckpt-8" and not "ckpt-12".
bool ReadLastNameAsText(const CrashTrial& trial);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_RECOVERY_JUDGE_H_
