// Reads the launches of a scenario: the differences between the launcher's
// starts.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_READ_LAUNCHES_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_READ_LAUNCHES_H_

#include "harness/scenario/format/map_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Reads `launches` of the document. REQUIRES: the job and the checkpoints of
// `one` have been read.
void ReadLaunches(const MapReader& document, Case& one);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_READ_LAUNCHES_H_
