// Faults that wait in an incarnation which an earlier fault has ended.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_

#include <vector>

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/reader/fault_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Warns of a fault in the first incarnation whose step or save is certainly
// behind that of another fault which ends this incarnation. Where the order is
// a matter of timing, or other saves may come in between, there is no warning.
void WarnOfEndedIncarnations(const Case& one,
                             const std::vector<PlacedFault>& faults,
                             Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_ENDED_INCARNATIONS_H_
