// Faults that can never fire: found before anything runs.
//
// Only what is certain is an error: a worker that no case has, a step behind
// the horizon, a point that the set-up never gets to. A fault that passes may
// still not fire; the run is then inconclusive. Where it can only fire by
// chance, or its effect is one of timing, there is a warning.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_REACHABLE_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_REACHABLE_H_

#include <vector>

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/reader/fault_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns true iff the point is reached only where checkpoints are stored.
bool NeedsAStore(Point point);

// Returns true iff the fault is a preemption notice, to a worker or to its
// launcher, which passes it on.
bool IsNotice(const Fault& fault);

// Checks each of the faults against the rest of the case.
void CheckReachable(const Case& one, const std::vector<PlacedFault>& faults,
                    Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_REACHABLE_H_
