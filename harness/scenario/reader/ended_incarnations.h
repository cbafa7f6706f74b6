// Detects faults that cannot fire because an earlier fault ends their
// incarnation.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_

#include <vector>

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/reader/fault_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Warns of a fault in the first incarnation if another fault ends this
// incarnation and the step or save of the first fault is certain to come later.
// There is no warning if the order depends on timing, or if there may be
// further saves in between. Also warns of a fault with `repeat` that ends the
// only incarnation in which it can fire.
void WarnOfEndedIncarnations(const Case& one,
                             const std::vector<PlacedFault>& faults,
                             Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_
