// Moves the faults of a shrunken plan to the plainest places that show the same
// violation, so that a bug that shows at many places becomes one finding.
#ifndef GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_CANONICAL_SITES_H_
#define GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_CANONICAL_SITES_H_

#include <functional>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "harness/explore/diagnosis/shrink.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns crashes of worker 0, then power losses, each at the beginning of a
// step: the first step of each quarter of the run.
std::vector<Fault> CanonicalFaults(const Case& setup);

// Replaces each fault of the plan by the first fault of `plain` with which
// `same` is true for the new plan. The new fault has the incarnation of the
// replaced one. Then shrinks the plan again. Two bugs may break the same
// invariant, so `same` must distinguish them. `same` is called with valid plans
// only.
ShrunkPlan MoveToCanonicalSites(
    const FaultPlan& plan, const std::vector<Fault>& plain,
    const ShrinkOptions& options,
    const std::function<bool(const FaultPlan&)>& same);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_CANONICAL_SITES_H_
