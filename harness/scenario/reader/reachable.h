// Detects faults that can never fire, before anything runs.
//
// Reports an error only if a fault is certain not to fire: it names a worker
// that the case does not have, a step after the end of training, or a point
// that is never reached with this set-up. A fault that passes the check may
// still not fire; then the run is inconclusive. Warns of a fault that fires
// only by chance, or whose effect depends on timing.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_REACHABLE_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_REACHABLE_H_

#include <vector>

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/reader/fault_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns true iff a run reaches the point only if it stores checkpoints.
bool NeedsAStore(Point point);

// Returns true iff the fault is a preemption notice, sent to a worker or to its
// launcher, which passes it on.
bool IsNotice(const Fault& fault);

// Checks each of the faults against the rest of the case.
void CheckReachable(const Case& one, const std::vector<PlacedFault>& faults,
                    Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_REACHABLE_H_
