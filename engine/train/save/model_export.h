// A trained model for other programs: a folder that any tool for safetensors
// opens, with a description that needs nothing of this one.
//
//   <directory>/model.safetensors   what predictions go by, and nothing else
//   <directory>/model.json          what they are of:
//     schema      "gauntlet/model/v1"
//     numerics    version of the numerics contract
//     weights     "model.safetensors"
//     weights_digest  of its tensors, as engine/ckpt/state/state_digest.h says
//     dtype       "F32"
//     input       height, width, channels; layout "NHWC"; divide_by: what the
//                 stored values are divided by (255 for bytes, 1 for floats)
//     classes     how many outputs; the greatest is the class, the first of
//                 equal ones
//     loss        as the job has it
//     layers      as the job has them, in order; those with tensors have
//                 `parameters` besides: [{"name", "shape"}, ...]. A dense layer
//                 is x * kernel + bias, the kernel (inputs, units); conv2d the
//                 same at each place where its window lies within the image,
//                 the kernel (size, size, channels, filters), rows of it along
//                 the height; center is x - moving_mean, channel by channel;
//                 dropout does nothing here
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

// In an export's directory.
inline constexpr std::string_view kExportedWeights = "model.safetensors";
inline constexpr std::string_view kExportDescription = "model.json";

struct TrainedModel {
  const Model& model;
  const TrainState& state;
  const Dataset& data;  // of the kind that it was trained on
  const std::string& job_json;
  Digest state_digest;
};

// model.json's text. kInvalidArgument: the job is not one.
Result<std::string> DescribeModel(const TrainedModel& trained);

// Checks that a model.json belongs to these weights. kDataLoss: it belongs to
// others, or is no JSON. A model.json without a digest belongs to any.
Status CheckExportedWeights(std::string_view description,
                            std::span<const TensorView> weights);

// Before the training: makes the directories that an export needs, and tries
// whether an export can go there. kInvalidArgument names what is there other
// than nothing, an empty folder or an earlier export, or the disk's error.
Status PrepareExport(Storage& storage, const std::string& directory);

// Writes the folder beside its place, all of it durable, and renames it there;
// an earlier export is replaced. A link to a directory stays, and the directory
// is replaced. At any time there is a whole export under that name or none.
// After an error nothing half written is left, if the disk allows its removal.
Status ExportModel(World& world, const std::string& directory,
                   const TrainedModel& trained);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_MODEL_EXPORT_H_
