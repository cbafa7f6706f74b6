// Determines the points at which a kind of fault takes effect.
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_APPLICABILITY_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_APPLICABILITY_H_

#include "chaos/inject/plan/plan.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

// Returns true iff a write to a file follows the point.
bool IsAtWrite(Point point);

// Returns true iff the fault acts at the point itself. A torn write at a point
// without a write would act only at the next write, which has a point of its
// own. Failed syncs and damage wait for their operation in the same way.
bool Applies(FaultKind kind, Point point);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_APPLICABILITY_H_
