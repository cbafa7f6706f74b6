// Weights alone, without what training depends on besides: one safetensors file
// that public tools read, or the weights of an export or a checkpoint.
#ifndef GAUNTLET_ENGINE_API_WEIGHTS_WEIGHTS_FILE_H_
#define GAUNTLET_ENGINE_API_WEIGHTS_WEIGHTS_FILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "engine/digest.h"
#include "engine/model/model.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/world.h"

namespace gauntlet {

// Digest of the names, shapes and bits. Here and below `parameters` may be all
// of a model's TrainedValues.
Digest WeightsDigest(std::span<const ParameterInfo> parameters,
                     std::span<const float> weights);

// Writes, syncs and renames a temporary file: at any time `path` is the old
// file or the new one. The directory must exist.
Status WriteWeights(World& world, const std::string& path,
                    std::span<const ParameterInfo> parameters,
                    std::span<const float> weights);

// Reads into `weights`, which stays as it was after an error. `path` is a file
// of WriteWeights, an export's directory, or the directory of one checkpoint,
// which is verified; tensors other than the parameters are ignored, and the
// replicas' own ones are combined. Returns the number of parameters read.
// kDataLoss: the file is none of these, or an export's weights do not match its
// description. kInvalidArgument: the directory is neither, or parameters are
// missing: any with kRefuse, all with kAllow.
Result<size_t> ReadWeights(World& world, const std::string& path,
                           std::span<const ParameterInfo> parameters,
                           std::span<float> weights, PartialWeights partial);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_WEIGHTS_WEIGHTS_FILE_H_
