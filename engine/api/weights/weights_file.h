// Weights without the rest of the training state: a safetensors file that
// public tools can read, or the weights of an export or a checkpoint.
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

// Returns a digest of the tensors' names, shapes and bits. Here and below,
// `parameters` describes the tensors in `weights`, either a model's parameters
// or all its TrainedValues.
Digest WeightsDigest(std::span<const ParameterInfo> parameters,
                     std::span<const float> weights);

// Writes and syncs a temporary file, then renames it to `path`. So `path` is
// always either the complete old file or the complete new one. The directory
// must exist.
Status WriteWeights(World& world, const std::string& path,
                    std::span<const ParameterInfo> parameters,
                    std::span<const float> weights);

// Reads weights from a file that WriteWeights wrote, from an export directory,
// or from the directory of a checkpoint, which is verified. Tensors not in
// `parameters` are ignored; state that a checkpoint stores once per replica is
// combined into one value. Returns the number of parameters read. After an
// error `weights` is unchanged. kDataLoss: the file is damaged or of another
// format, or the weights do not match the export's description.
// kInvalidArgument: the directory is neither an export nor a checkpoint; with
// kRefuse, a parameter is missing; with kAllow, all parameters are missing.
Result<size_t> ReadWeights(World& world, const std::string& path,
                           std::span<const ParameterInfo> parameters,
                           std::span<float> weights, PartialWeights partial);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_WEIGHTS_WEIGHTS_FILE_H_
