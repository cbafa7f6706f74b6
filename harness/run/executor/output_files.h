// Outputs of a run besides its checkpoints, as other programs read them.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_OUTPUT_FILES_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_OUTPUT_FILES_H_

#include <string>

#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/world.h"
#include "harness/record/record.h"

namespace gauntlet {

// Directories of a run's outputs; "" for an output that the run does not have.
struct LeftoverPlaces {
  std::string curves;  // event files for TensorBoard
  std::string model;   // the exported model
};

// Fills in the points of the curves, and the exported model. The model is
// complete iff its weights match its description. The points are those that
// TensorBoard would show: it reads the event files in the order of their names.
// When a session starts at a step, TensorBoard drops the earlier points of this
// step and of later ones. Changes no file. Returns an error if the places
// cannot be read.
Status LookAtOutputs(World& world, const LeftoverPlaces& places,
                     Leftovers& left);

// Fills in everything that a run with these options leaves behind, including
// its checkpoints. Skips each kind of output whose directory in `options` is
// "".
Status LookAtLeftovers(World& world, const TrainOptions& options,
                       Leftovers& left);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_OUTPUT_FILES_H_
