// The weights that a training starts from, where its options name some.
#ifndef GAUNTLET_ENGINE_API_WEIGHTS_START_WEIGHTS_H_
#define GAUNTLET_ENGINE_API_WEIGHTS_START_WEIGHTS_H_

#include <vector>

#include "engine/data/dataset.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/world.h"

namespace gauntlet {

// Reads what options.start names for a model of rows like these, and makes it
// the start of options.job; of a partial source the rest is the seed's. Where
// the job has a start already, what is read has to be that. Empty, and nothing
// changes, where no weights are named. Errors are those of ReadWeights;
// kInvalidArgument also: the job cannot be built, or has another start.
Result<std::vector<float>> TakeStart(World& world, const Dataset& rows,
                                     TrainOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_WEIGHTS_START_WEIGHTS_H_
