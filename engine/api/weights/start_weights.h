// Initial weights of a training whose options name a source.
#ifndef GAUNTLET_ENGINE_API_WEIGHTS_START_WEIGHTS_H_
#define GAUNTLET_ENGINE_API_WEIGHTS_START_WEIGHTS_H_

#include <vector>

#include "engine/data/dataset.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/world.h"

namespace gauntlet {

// Reads the weights that options.start names, for a model of rows like these,
// and makes them the start of options.job. Parameters that a partial source
// lacks are initialized from the seed. If the job already has a start, the
// weights must be the same. If no source is named, returns an empty list and
// changes nothing. Errors are those of ReadWeights; also kInvalidArgument if
// the job cannot be built or has another start.
Result<std::vector<float>> LoadStartWeights(World& world, const Dataset& rows,
                                            TrainOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_WEIGHTS_START_WEIGHTS_H_
