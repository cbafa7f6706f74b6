// Weights alone, without what training depends on besides: one safetensors file
// that public tools read, or the weights of an export or a checkpoint.
#ifndef GAUNTLET_ENGINE_API_WEIGHTS_FILE_H_
#define GAUNTLET_ENGINE_API_WEIGHTS_FILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "engine/digest.h"
#include "engine/model/model.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/world.h"

namespace gauntlet {

// Of names, shapes and bits. Here and below `parameters` may be all of a
// model's TrainedValues.
Digest WeightsDigest(std::span<const ParameterInfo> parameters,
                     std::span<const float> weights);

// Written beside it, synced and renamed: `path` is the old file or the new one,
// whatever happens. The directory has to be there.
Status WriteWeights(World& world, const std::string& path,
                    std::span<const ParameterInfo> parameters,
                    std::span<const float> weights);

// Reads into `weights`, which is as it was after an error. `path` is a file of
// WriteWeights, an export's directory, or that of one checkpoint, which is
// verified; what it holds beside the parameters is passed over, and what its
// replicas keep is combined. Returns how many parameters it gave; kDataLoss:
// the file is no such thing, or an export's weights are not those that it says,
// kInvalidArgument: a directory that is neither, kRefuse and one is missing, or
// kAllow and all are.
Result<size_t> ReadWeights(World& world, const std::string& path,
                           std::span<const ParameterInfo> parameters,
                           std::span<float> weights, PartialWeights partial);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_WEIGHTS_FILE_H_
