// Consequences of a state that differs from the reference run's: the checks
// that fail because of the difference.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_CONSEQUENCES_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_CONSEQUENCES_H_

#include <vector>

#include "harness/record/result/result.h"

namespace gauntlet {

// Returns one consequence for each invariant of the verdict whose violations
// follow from the difference. Other violations have causes of their own.
std::vector<Consequence> ConsequencesOf(const StateDifference& difference,
                                        const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_CONSEQUENCES_H_
