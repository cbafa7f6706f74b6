// Detects faults that wait in an incarnation that an earlier fault ends.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_

#include <vector>

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/reader/fault_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Warns of a fault in the first incarnation if its step or save certainly comes
// after another fault that ends the incarnation. There is no warning if the
// order depends on timing, or if additional saves are possible in between. Also
// warns of a fault with `repeat` that ends the only incarnation it selects.
void WarnOfEndedIncarnations(const Case& one,
                             const std::vector<PlacedFault>& faults,
                             Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_
