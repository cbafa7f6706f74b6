// Writes the `trainer` of a scenario.
#ifndef GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_TRAINER_H_
#define GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_TRAINER_H_

#include <string>

#include "harness/scenario/trainer_setup.h"

namespace gauntlet {

// Returns the lines of the key `trainer`, without default values. The loader
// reads them back as an equal set-up.
std::string TrainerToYaml(const TrainerSetup& setup);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_TRAINER_H_
