// Detects faults that can never fire, before anything runs.
//
// Reports an error only if the fault certainly cannot fire: a worker that no
// case has, a step after the horizon, a point that the set-up never reaches. A
// fault that passes the check may still not fire; the run is then inconclusive.
// There is a warning if a fault can only fire by chance, or if its effect
// depends on timing.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_REACHABLE_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_REACHABLE_H_

#include <vector>

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/reader/fault_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns true iff the point is reached only if checkpoints are stored.
bool NeedsAStore(Point point);

// Returns true iff the fault is a preemption notice to a worker, or to its
// launcher, which forwards it.
bool IsNotice(const Fault& fault);

// Checks each of the faults against the rest of the case.
void CheckReachable(const Case& one, const std::vector<PlacedFault>& faults,
                    Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_REACHABLE_H_
