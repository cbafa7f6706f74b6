// Outputs of a run besides its checkpoints, as other programs read them.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_OUTPUT_FILES_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_OUTPUT_FILES_H_

#include <string>

#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/world.h"
#include "harness/record/record.h"

namespace gauntlet {

// Empty: the run has no such output.
struct LeftoverPlaces {
  std::string curves;  // event files for TensorBoard
  std::string model;   // the exported model
};

// Fills in the points that a reader of the event files ends up with, and the
// exported model, if its weights match its description. The reader takes the
// files in the order of their names. When a session starts at a step, the
// reader drops the points that it has of that step and later ones, as
// TensorBoard does. Changes nothing. Returns an error if the places cannot be
// read.
Status LookAtOutputs(World& world, const LeftoverPlaces& places,
                     Leftovers& left);

// Fills in everything that a run with these options leaves, including its
// checkpoints. An empty directory name stands for no such output.
Status LookAtLeftovers(World& world, const TrainOptions& options,
                       Leftovers& left);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_OUTPUT_FILES_H_
