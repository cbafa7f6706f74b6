// Outputs of a run that stand beside its checkpoints, as others read them.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_OUTPUT_FILES_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_OUTPUT_FILES_H_

#include <string>

#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/world.h"
#include "harness/record/record.h"

namespace gauntlet {

// Empty: the run has no such output.
struct OutputPlaces {
  std::string curves;  // event files for TensorBoard
  std::string model;   // the exported model
};

// Fills in the points that a reader of the event files has in the end: it reads
// them in the order of their names, and at a session's start drops what it has
// of that step and later ones (TensorBoard does so). And whether there is an
// exported model whose weights are those that its description says. Nothing is
// changed. An error: the places cannot be looked at.
Status LookAtOutputs(World& world, const OutputPlaces& places, Leftovers& left);

// Looks at all that a run with these options leaves: its store, too. An empty
// directory names nothing.
Status LookAtLeftovers(World& world, const TrainOptions& options,
                       Leftovers& left);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_OUTPUT_FILES_H_
