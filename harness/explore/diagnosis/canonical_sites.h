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

// Returns the plainest faults: four crashes of worker 0, then four power
// losses. They are at the begin of the first step of each quarter of the run.
std::vector<Fault> CanonicalFaults(const Case& setup);

// Tries the faults of `plain`, in their order, in place of each fault of the
// plan. Takes the first one for which `same` accepts the new plan; if there is
// none, the fault stays as it is. A new fault keeps the incarnation of the
// fault that it replaces. If the plan has changed, shrinks it again. Two bugs
// may break the same invariant, so `same` must distinguish them. `same` is
// called with valid plans only.
ShrunkPlan MoveToCanonicalSites(
    const FaultPlan& plan, const std::vector<Fault>& plain,
    const ShrinkOptions& options,
    const std::function<bool(const FaultPlan&)>& same);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_CANONICAL_SITES_H_
