// Initial weights that a training reads from the source named in its options.
#ifndef GAUNTLET_ENGINE_API_WEIGHTS_START_WEIGHTS_H_
#define GAUNTLET_ENGINE_API_WEIGHTS_START_WEIGHTS_H_

#include <vector>

#include "engine/data/dataset.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/world.h"

namespace gauntlet {

// Reads the weights that options.start names and stores their digest in
// options.job.start. `data` determines the shape of the model. Parameters that
// the source lacks are initialized from the seed. If options.job.start already
// has a digest, the weights must have the same one. If options.start names no
// source, returns an empty list and changes nothing. Errors are those of
// ReadWeights; also kInvalidArgument if the job is invalid, its model cannot be
// built, or the weights have another digest than options.job.start.
Result<std::vector<float>> LoadStartWeights(World& world, const Dataset& data,
                                            TrainOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_WEIGHTS_START_WEIGHTS_H_
