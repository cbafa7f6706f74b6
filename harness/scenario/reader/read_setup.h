// Reads the keys that scenarios and job files share: job, cluster and
// checkpoint.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_READ_SETUP_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_READ_SETUP_H_

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/format/map_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Reads `use`, `job`, `cluster`, `preemption` and `checkpoint` of a document.
// Missing keys keep the values in `one`, except those of the job, which
// defaults to the preset with a replica for each worker and the case's seed.
void ReadSetup(const MapReader& document, Case& one,
               const Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_READ_SETUP_H_
