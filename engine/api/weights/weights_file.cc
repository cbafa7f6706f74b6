#include "engine/api/weights/weights_file.h"

#include <cstring>
#include <map>
#include <vector>

#include "engine/ckpt/format/safetensors.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/block_writer.h"
#include "engine/ckpt/io/checkpoint_reader.h"
#include "engine/ckpt/state/shard_plan.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/tensor.h"
#include "engine/train/save/model_export.h"
#include "engine/train/state/train_state.h"
#include "engine/world/directories.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Maximum size of a file: larger than any model that the engine trains, but
// small enough to read into memory.
constexpr uint64_t kMaxFile = uint64_t{1} << 34;
constexpr uint64_t kMaxDescription = uint64_t{1} << 20;

// Tensors that were read from one path. `tensors` maps names to views into the
// memory of `file`, `checkpoint` or `combined`.
struct Source {
  std::string file;
  LoadedCheckpoint checkpoint;
  std::map<std::string, std::vector<float>> combined;
  std::map<std::string, TensorView> tensors;
};

Status ReadFileInto(World& world, const std::string& path, Source& source) {
  ASSIGN_OR_RETURN(source.file, ReadWithRetry(world, path, kMaxFile));
  Result<std::vector<TensorView>> views =
      ParseSafetensors(std::as_bytes(std::span(source.file)));
  if (!views.ok()) {
    return Annotate(views.status(),
                    path + ": expected a safetensors file, found another one");
  }
  for (TensorView& view : *views) {
    source.tensors[view.name] = std::move(view);
  }
  return OkStatus();
}

Status ReadCheckpointInto(World& world, const std::string& path,
                          Source& source) {
  ASSIGN_OR_RETURN(source.checkpoint, ReadCheckpoint(world, path));
  for (const TensorView& view : source.checkpoint.tensors) {
    source.tensors[view.name] = view;
  }
  return OkStatus();
}

// Checks the weights against the export's description. The description may be
// missing: a user may have copied only the weights.
Status CheckExport(World& world, const std::string& directory,
                   const Source& source) {
  const std::string file = fmt::format("{}/{}", directory, kExportDescription);
  const Result<std::string> text = ReadWithRetry(world, file, kMaxDescription);
  if (text.status().code() == Code::kNotFound) return OkStatus();
  RETURN_IF_ERROR(text.status());
  std::vector<TensorView> weights;
  for (const auto& [name, tensor] : source.tensors) weights.push_back(tensor);
  return Annotate(CheckExportedWeights(*text, weights), file);
}

Status ReadSource(World& world, const std::string& path, Source& source) {
  const auto there = [&](const std::string& file) {
    return world.storage.Open(file, OpenMode::kRead).ok();
  };
  if (there(fmt::format("{}/{}", path, kManifestName))) {
    return ReadCheckpointInto(world, path, source);
  }
  const std::string exported = fmt::format("{}/{}", path, kExportedWeights);
  if (there(exported)) {
    RETURN_IF_ERROR(ReadFileInto(world, exported, source));
    return CheckExport(world, path, source);
  }
  if (world.storage.List(path).ok()) {
    return InvalidArgument(fmt::format(
        "{}: expected a checkpoint, an export or a file of weights, found "
        "another directory",
        path));
  }
  return ReadFileInto(world, path, source);
}

// Replaces each tensor of replica_state by its mean over the replicas, as an
// export does. In a checkpoint, such a tensor has the values of every replica.
void CombineTensors(std::span<const ParameterInfo> values, Source& source) {
  for (const ParameterInfo& info : values) {
    const TensorView* const all =
        FindTensor(source.checkpoint.tensors, info.name);
    if (all == nullptr || all->dtype != DType::kF32 || all->shape.empty() ||
        all->shape[0] == 0 ||
        !std::ranges::equal(std::span(all->shape).subspan(1), info.shape)) {
      continue;
    }
    std::vector<float> of_replicas(all->bytes.size() / sizeof(float));
    std::memcpy(of_replicas.data(), all->bytes.data(), all->bytes.size());
    std::vector<float>& one = source.combined[info.name];
    one.resize(info.size);
    CombineReplicas(of_replicas, one);
    source.tensors[info.name] = {.name = info.name,
                                 .shape = info.shape,
                                 .bytes = std::as_bytes(std::span(one))};
  }
}

// Returns the reason why the source has no usable value for the parameter; ""
// if the value is usable.
std::string Unfit(const Source& source, const ParameterInfo& info) {
  const auto found = source.tensors.find(info.name);
  if (found == source.tensors.end()) {
    return fmt::format("expected {}, found none of that name", info.name);
  }
  const TensorView& tensor = found->second;
  if (tensor.dtype == DType::kF32 && tensor.shape == info.shape) return "";
  return fmt::format("{}: expected {} of F32, found {} of {}", info.name,
                     fmt::join(info.shape, "x"), fmt::join(tensor.shape, "x"),
                     DTypeName(tensor.dtype));
}

}  // namespace

Digest WeightsDigest(std::span<const ParameterInfo> parameters,
                     std::span<const float> weights) {
  return StateDigest(ViewsOf(parameters, weights));
}

Status WriteWeights(World& world, const std::string& path,
                    std::span<const ParameterInfo> parameters,
                    std::span<const float> weights) {
  RETURN_IF_ERROR(Annotate(CheckPath(path), "weights file"));
  const std::vector<TensorView> views = ViewsOf(parameters, weights);
  const SafetensorsLayout layout = LayOutSafetensors(views, 0);
  const std::string tmp = path + ".tmp";
  Status status = WriteInBlocks(world, tmp, PartsOf(layout, views),
                                {.mode = OpenMode::kCreateTruncate})
                      .status();
  if (status.ok()) status = world.storage.Rename(tmp, path);
  if (status.ok()) return world.storage.SyncDirectory(ParentDirectory(path));
  // Removes the partial new file; the old file, if there is one, is unchanged.
  static_cast<void>(world.storage.Remove(tmp, FileKind::kFile));
  return status;
}

Result<size_t> ReadWeights(World& world, const std::string& path,
                           std::span<const ParameterInfo> parameters,
                           std::span<float> weights, PartialWeights partial) {
  Source source;
  RETURN_IF_ERROR(ReadSource(world, path, source));
  CombineTensors(parameters, source);
  std::vector<const ParameterInfo*> given;
  std::string missing;
  for (const ParameterInfo& info : parameters) {
    const std::string unfit = Unfit(source, info);
    if (unfit.empty()) given.push_back(&info);
    if (missing.empty()) missing = unfit;
  }
  if (!missing.empty() &&
      (partial == PartialWeights::kRefuse || given.empty())) {
    return InvalidArgument(fmt::format("{}: {}", path, missing));
  }
  for (const ParameterInfo* info : given) {
    std::memcpy(weights.data() + info->offset,
                source.tensors[info->name].bytes.data(),
                info->size * sizeof(float));
  }
  return given.size();
}

}  // namespace gauntlet
