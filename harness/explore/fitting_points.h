// Where a kind of fault means something of its own.
#ifndef GAUNTLET_HARNESS_EXPLORE_FITTING_POINTS_H_
#define GAUNTLET_HARNESS_EXPLORE_FITTING_POINTS_H_

#include "chaos/inject/plan.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

// Whether a write to a file follows the point.
bool IsAtWrite(Point point);

// A tear before a point that writes nothing would wait for the next write,
// which has a point of its own; likewise with syncs and damage.
bool MeansSomething(FaultKind kind, Point point);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_FITTING_POINTS_H_
