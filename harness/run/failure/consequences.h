// Why checks fail once a run's state differs from its reference's.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_CONSEQUENCES_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_CONSEQUENCES_H_

#include <vector>

#include "harness/record/result/result.h"

namespace gauntlet {

// One for each invariant of the verdict whose violations follow from the
// difference. Others have causes of their own.
std::vector<Consequence> ConsequencesOf(const StateDifference& difference,
                                        const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_CONSEQUENCES_H_
