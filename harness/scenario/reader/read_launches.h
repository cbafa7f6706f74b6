// Reads the launches of a scenario: the options in which each start of the
// launcher differs from the case.
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
