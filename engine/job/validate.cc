#include <algorithm>
#include <string>

#include "engine/job/job.h"
#include "engine/job/layer_kinds.h"
#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kMaxPieces = 1000;
constexpr float kMaxLearningRate = 1000.0f;

Status CheckInt(std::string_view field, int64_t value, int64_t low,
                int64_t high) {
  if (value >= low && value <= high) return OkStatus();
  return InvalidArgument(
      fmt::format("{}: expected {} to {}, found {}", field, low, high, value));
}

// Checks that low <= value < end. Rejects NaN, which is in no interval.
Status CheckBelow(std::string_view field, float value, float low, float end) {
  if (value >= low && value < end) return OkStatus();
  return InvalidArgument(
      fmt::format("{}: expected a number of at least {} and below {}, found {}",
                  field, low, end, value));
}

Status CheckPositive(std::string_view field, float value, float high) {
  if (value > 0.0f && value <= high) return OkStatus();
  return InvalidArgument(
      fmt::format("{}: expected a number above 0 and at most {}, found {}",
                  field, high, value));
}

// The message of an error begins with the field (".units: …"); the caller adds
// the layer's path before it.
Status ValidateLayer(const LayerSpec& layer) {
  if (static_cast<size_t>(layer.kind) >= AllLayerKinds().size()) {
    return InvalidArgument(".kind: unknown");
  }
  for (const LayerField& field : InfoOf(layer.kind).fields) {
    const std::string name = fmt::format(".{}", field.name);
    RETURN_IF_ERROR(field.count != nullptr
                        ? CheckInt(name, layer.*field.count, 1, field.high)
                        : CheckBelow(name, layer.*field.share, 0.0f, 1.0f));
  }
  return OkStatus();
}

// Checks the order: images up to the one flatten, flat samples after it.
Status ValidateOrder(const ModelSpec& model) {
  const auto refuse = [](size_t index, std::string_view expected) {
    return InvalidArgument(
        fmt::format("model.layers[{}].kind: expected {}", index, expected));
  };
  const LayerKind first = model.layers.front().kind;
  if (first != LayerKind::kFlatten && first != LayerKind::kConv2D) {
    return refuse(0, "flatten or conv2d as the first layer");
  }
  bool flat = false;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerKind kind = model.layers[i].kind;
    if (flat && kind == LayerKind::kFlatten) {
      return refuse(i, "flatten only once");
    }
    if (flat && kind == LayerKind::kConv2D) {
      return refuse(i, "conv2d only before flatten");
    }
    if (!flat && kind == LayerKind::kDense) {
      return refuse(i, "dense only after flatten");
    }
    flat = flat || kind == LayerKind::kFlatten;
  }
  if (model.layers.back().kind != LayerKind::kDense) {
    return refuse(model.layers.size() - 1, "dense as the last layer");
  }
  return OkStatus();
}

Status ValidateModel(const ModelSpec& model) {
  RETURN_IF_ERROR(CheckInt("model.layers (how many)",
                           static_cast<int64_t>(model.layers.size()), 1,
                           kMaxLayers));
  RETURN_IF_ERROR(ValidateOrder(model));
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const Status found = ValidateLayer(model.layers[i]);
    if (found.ok()) continue;
    return InvalidArgument(
        fmt::format("model.layers[{}]{}", i, found.message()));
  }
  return OkStatus();
}

Status ValidateSource(const DataSpec& data) {
  if (data.kind != DataKind::kDigits && data.path.empty()) {
    return InvalidArgument("data.path: expected a directory, found nothing");
  }
  RETURN_IF_ERROR(Annotate(CheckPath(data.path), "data.path"));
  RETURN_IF_ERROR(
      Annotate(CheckPath(data.validation_path), "data.validation_path"));
  if (data.kind == DataKind::kNpy) {
    return CheckInt("data.classes", data.classes, 2, kMaxClasses);
  }
  if (data.kind != DataKind::kDigits) return OkStatus();
  RETURN_IF_ERROR(CheckInt("data.samples", data.samples, 1, kMaxSamples));
  RETURN_IF_ERROR(CheckInt("data.validation_samples", data.validation_samples,
                           1, kMaxSamples));
  if (data.side == 28 || data.side == 7) return OkStatus();
  return InvalidArgument(
      fmt::format("data.side: expected 28 or 7, found {}", data.side));
}

Status ValidateData(const DataSpec& data) {
  RETURN_IF_ERROR(ValidateSource(data));
  RETURN_IF_ERROR(
      CheckInt("data.steps_per_epoch", data.steps_per_epoch, 0, kMaxSamples));
  return CheckInt("data.validation_steps", data.validation_steps, 0,
                  kMaxSamples);
}

// Checks an epoch whose number of samples is known without reading data.
Status ValidateEpoch(const JobSpec& job) {
  const int64_t global_batch = int64_t{job.replicas} * job.batch;
  const int64_t samples = job.data.samples;
  const bool all_of_each = job.data.shard == ShardPolicy::kOff;
  const int64_t needed = all_of_each ? job.batch : global_batch;
  if (job.remainder == Remainder::kDrop && needed > samples) {
    return InvalidArgument(fmt::format(
        "data.samples: expected at least one global batch ({} replicas of {} "
        "samples = {}) with remainder drop, found {}",
        all_of_each ? 1 : job.replicas, job.batch, needed, samples));
  }
  // SampleSchedule::UseOf numbers the uses of samples in an epoch with 32 bits.
  constexpr int64_t kMaxUses = int64_t{1} << 32;
  if (all_of_each && job.replicas * samples >= kMaxUses) {
    return InvalidArgument(fmt::format(
        "data.samples: expected fewer than 2^32 over all {} replicas with "
        "shard off, found {}",
        job.replicas, job.replicas * samples));
  }
  return OkStatus();
}

Status ValidatePiecewise(const ScheduleSpec& schedule) {
  const size_t boundaries = schedule.boundaries.size();
  RETURN_IF_ERROR(CheckInt("optimizer.schedule.boundaries (how many)",
                           static_cast<int64_t>(boundaries), 1, kMaxPieces));
  RETURN_IF_ERROR(
      CheckInt("optimizer.schedule.values (how many: one more than boundaries)",
               static_cast<int64_t>(schedule.values.size()),
               static_cast<int64_t>(boundaries) + 1,
               static_cast<int64_t>(boundaries) + 1));
  for (size_t i = 0; i < schedule.values.size(); ++i) {
    RETURN_IF_ERROR(
        CheckPositive(fmt::format("optimizer.schedule.values[{}]", i),
                      schedule.values[i], kMaxLearningRate));
  }
  for (size_t i = 1; i < boundaries; ++i) {
    if (schedule.boundaries[i] > schedule.boundaries[i - 1]) continue;
    return InvalidArgument(fmt::format(
        "optimizer.schedule.boundaries[{}]: expected more than {}, found {}", i,
        schedule.boundaries[i - 1], schedule.boundaries[i]));
  }
  return OkStatus();
}

Status CheckUpdates(std::string_view field, uint64_t value, uint64_t low) {
  if (value >= low && value <= kMaxUpdates) return OkStatus();
  return InvalidArgument(fmt::format("{}: expected {} to {}, found {}", field,
                                     low, kMaxUpdates, value));
}

Status ValidateSchedule(const ScheduleSpec& schedule) {
  RETURN_IF_ERROR(
      CheckUpdates("optimizer.schedule.warmup", schedule.warmup, 0));
  switch (schedule.kind) {
    case ScheduleKind::kConstant:
      return OkStatus();
    case ScheduleKind::kExponentialDecay:
      RETURN_IF_ERROR(
          CheckUpdates("optimizer.schedule.steps", schedule.steps, 1));
      return CheckPositive("optimizer.schedule.rate", schedule.rate, 1.0f);
    case ScheduleKind::kCosineDecay:
      RETURN_IF_ERROR(
          CheckUpdates("optimizer.schedule.steps", schedule.steps, 1));
      return CheckBelow("optimizer.schedule.alpha", schedule.alpha, 0.0f, 1.0f);
    case ScheduleKind::kPiecewise:
      return ValidatePiecewise(schedule);
  }
  return InvalidArgument("optimizer.schedule.kind: unknown");
}

Status ValidateOptimizer(const OptimizerSpec& optimizer) {
  RETURN_IF_ERROR(CheckPositive("optimizer.learning_rate",
                                optimizer.learning_rate, kMaxLearningRate));
  RETURN_IF_ERROR(ValidateSchedule(optimizer.schedule));
  if (optimizer.clip.kind != ClipKind::kNone) {
    RETURN_IF_ERROR(
        CheckPositive("optimizer.clip.limit", optimizer.clip.limit, 1e30f));
  }
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      return CheckBelow("optimizer.momentum", optimizer.momentum, 0.0f, 1.0f);
    case OptimizerKind::kAdam:
      RETURN_IF_ERROR(
          CheckBelow("optimizer.beta1", optimizer.beta1, 0.0f, 1.0f));
      RETURN_IF_ERROR(
          CheckBelow("optimizer.beta2", optimizer.beta2, 0.0f, 1.0f));
      return CheckPositive("optimizer.epsilon", optimizer.epsilon, 1.0f);
  }
  return InvalidArgument("optimizer.kind: not a kind");
}

// Checks names of parameters: printable and without spaces.
Status ValidateSaved(const std::vector<std::string>& saved) {
  constexpr size_t kMaxNames = 10'000;
  constexpr size_t kMaxName = 200;
  RETURN_IF_ERROR(CheckInt("saved (how many)",
                           static_cast<int64_t>(saved.size()), 0, kMaxNames));
  for (size_t i = 0; i < saved.size(); ++i) {
    const bool printable = std::ranges::all_of(
        saved[i], [](char letter) { return letter > ' ' && letter < 0x7f; });
    if (saved[i].empty() || saved[i].size() > kMaxName || !printable) {
      return InvalidArgument(
          fmt::format("saved[{}]: expected a name of 1 to {} printable letters",
                      i, kMaxName));
    }
    if (i > 0 && saved[i] <= saved[i - 1]) {
      return InvalidArgument(
          fmt::format("saved[{}]: expected a name behind {}, found {}", i,
                      saved[i - 1], saved[i]));
    }
  }
  return OkStatus();
}

}  // namespace

Status Validate(const JobSpec& job) {
  RETURN_IF_ERROR(ValidateModel(job.model));
  RETURN_IF_ERROR(ValidateData(job.data));
  RETURN_IF_ERROR(ValidateOptimizer(job.optimizer));
  RETURN_IF_ERROR(CheckInt("replicas", job.replicas, 1, kMaxReplicas));
  RETURN_IF_ERROR(CheckInt("batch", job.batch, 1, kMaxBatch));
  RETURN_IF_ERROR(CheckInt("accumulate", job.accumulate, 1, kMaxAccumulate));
  RETURN_IF_ERROR(ValidateSaved(job.saved));
  if (job.data.kind == DataKind::kDigits) return ValidateEpoch(job);
  return OkStatus();
}

}  // namespace gauntlet
