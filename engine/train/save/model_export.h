// A trained model for other programs: a directory with a safetensors file that
// any tool can open, and a self-contained description.
//
//   <directory>/model.safetensors   only the values that predictions use
//   <directory>/model.json          description of the model:
//     schema      "gauntlet/model/v1"
//     numerics    version of the numerics contract
//     weights     "model.safetensors"
//     weights_digest  of its tensors, by engine/ckpt/state/state_digest.h
//     dtype       "F32"
//     input       height, width, channels; layout "NHWC"; divide_by: divisor of
//                 the stored values (255 for bytes, 1 for floats)
//     classes     number of outputs; the predicted class is the largest output,
//                 the first one if several are equal
//     loss        as in the job
//     layers      as in the job, in order; those with tensors also have
//                 `parameters`: [{"name", "shape"}, ...]. A dense layer is
//                 x * kernel + bias, with a kernel (inputs, units). conv2d is
//                 the same at each position where its window lies within the
//                 image, with a kernel (size, size, channels, filters), whose
//                 first dimension runs along the height. center is
//                 x - moving_mean, per channel. gelu is
//                 x * (1 + erf(x / sqrt(2))) / 2. dropout has no effect here
//     trained     step, epoch, state_digest, job_digest
#ifndef GAUNTLET_ENGINE_TRAIN_SAVE_MODEL_EXPORT_H_
#define GAUNTLET_ENGINE_TRAIN_SAVE_MODEL_EXPORT_H_

#include <span>
#include <string>
#include <string_view>

#include "engine/data/dataset.h"
#include "engine/digest.h"
#include "engine/model/model.h"
#include "engine/status.h"
#include "engine/tensor.h"
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

// File names in an export's directory.
inline constexpr std::string_view kExportedWeights = "model.safetensors";
inline constexpr std::string_view kExportDescription = "model.json";

struct TrainedModel {
  const Model& model;
  const TrainState& state;
  const Dataset& data;  // same shape as the training data
  const std::string& job_json;
  Digest state_digest;
};

// Returns the text of model.json. kInvalidArgument: job_json is not a valid
// job.
Result<std::string> DescribeModel(const TrainedModel& trained);

// Checks that a model.json belongs to these weights. kDataLoss: `description`
// has the digest of other weights, or is not a JSON object. Returns Ok if it
// has no digest.
Status CheckExportedWeights(std::string_view description,
                            std::span<const TensorView> weights);

// Called before the training: creates the directories that an export needs, and
// tests that an export can be written. kInvalidArgument names the obstacle
// (anything but an empty directory or an earlier export), or the disk's error.
// kResourceExhausted: disk space is missing.
Status PrepareExport(Storage& storage, const std::string& directory);

// Writes the export next to its final place, syncs it, and renames it to that
// place. The rename replaces an earlier export. If the path is a link to a
// directory, the link stays and the directory is replaced. At any time the path
// has a complete export or none. After an error the partial export is removed,
// if the disk allows it.
Status ExportModel(World& world, const std::string& directory,
                   const TrainedModel& trained);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_MODEL_EXPORT_H_
