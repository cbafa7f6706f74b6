// Reads a scenario that tests another training program (`trainer`).
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_READ_TRAINER_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_READ_TRAINER_H_

#include "harness/scenario/format/map_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Sets `one.trainer`. Reports an error for keys of the document that apply only
// to jobs of the engine, and for keys of `expect` other than `outcome:
// recovers`. REQUIRES: the document has a `trainer`.
void ReadTrainer(const MapReader& document, const YamlNode& node, Case& one);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_READ_TRAINER_H_
