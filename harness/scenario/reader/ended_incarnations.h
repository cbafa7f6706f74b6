// Detects faults that cannot fire because an earlier fault ends their
// incarnation.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_

#include <vector>

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/reader/fault_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Warns of a fault in incarnation 1 that comes too late: another fault is
// certain to end this incarnation at an earlier step or save. There is no
// warning if the order depends on timing, or if there may be further saves in
// between. Also warns of a fault with `repeat` that itself ends the only
// incarnation in which it can fire.
void WarnOfEndedIncarnations(const Case& one,
                             const std::vector<PlacedFault>& faults,
                             Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_
