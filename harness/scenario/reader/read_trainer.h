// Reads a scenario whose subject is somebody else's training program.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_READ_TRAINER_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_READ_TRAINER_H_

#include "harness/scenario/format/map_reader.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Sets `one.trainer`, and reports the keys of the document that are of a job of
// ours, and all that `expect` says beyond `outcome: recovers`. REQUIRES: the
// document has a `trainer`.
void ReadTrainer(const MapReader& document, const YamlNode& node, Case& one);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_READ_TRAINER_H_
