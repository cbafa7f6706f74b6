// Reads the keys that scenarios and job files share: job, cluster and
// checkpoint.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_READ_SETUP_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_READ_SETUP_H_

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/format/map_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Reads `preset`, `job`, `cluster`, `preemption` and `checkpoint` of a
// document. If a key is missing, `one` keeps its value. Exception: the job. Its
// defaults are those of the preset, with one replica for each worker and the
// seed of the case.
void ReadSetup(const MapReader& document, Case& one,
               const Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_READ_SETUP_H_
