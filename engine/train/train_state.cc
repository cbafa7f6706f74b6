#include "engine/train/train_state.h"

#include <algorithm>
#include <cstring>

#include "engine/ckpt/state_digest.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kU64;
}

template <typename T>
MutableTensorView Scalar(std::string name, T& value) {
  return {.name = std::move(name),
          .dtype = DTypeOf<T>(),
          .shape = {},
          .bytes = std::as_writable_bytes(std::span(&value, 1))};
}

template <typename T>
MutableTensorView Vector(std::string name, std::vector<T>& values) {
  return {.name = std::move(name),
          .dtype = DTypeOf<T>(),
          .shape = {values.size()},
          .bytes = std::as_writable_bytes(std::span(values))};
}

void AddParameters(std::string_view prefix,
                   std::span<const ParameterInfo> layout,
                   std::vector<float>& values,
                   std::vector<MutableTensorView>& tensors) {
  for (const ParameterInfo& info : layout) {
    tensors.push_back({.name = fmt::format("{}{}", prefix, info.name),
                       .dtype = DType::kF32,
                       .shape = info.shape,
                       .bytes = std::as_writable_bytes(
                           std::span(values).subspan(info.offset, info.size))});
  }
}

Status CopyInto(const MutableTensorView& to, const Tensor& from) {
  if (from.dtype != to.dtype || from.shape != to.shape ||
      from.bytes.size() != to.bytes.size()) {
    return DataLoss(fmt::format(
        "tensor {}: expected {} bytes, the checkpoint has {} of another type "
        "or shape",
        to.name, to.bytes.size(), from.bytes.size()));
  }
  if (!to.bytes.empty()) {
    std::memcpy(to.bytes.data(), from.bytes.data(), to.bytes.size());
  }
  return OkStatus();
}

}  // namespace

TrainState::TrainState(const Model& model, const Optimizer& rule, uint64_t seed,
                       StartFrom start)
    : parameters(model.parameter_count()),
      optimizer(rule.InitialState(model.parameter_count())),
      rng_key(seed),
      layout_(model.parameters().begin(), model.parameters().end()),
      slot_names_(rule.slot_names()),
      scalar_names_(rule.scalar_names()) {
  if (start == StartFrom::kInitialParameters) {
    model.Initialize(rng_key, parameters);
  }
}

std::vector<MutableTensorView> TrainState::MutableTensors() {
  std::vector<MutableTensorView> tensors;
  tensors.reserve(layout_.size() * (1 + slot_names_.size()) +
                  scalar_names_.size() + 14);
  AddParameters("", layout_, parameters, tensors);
  for (size_t i = 0; i < slot_names_.size(); ++i) {
    AddParameters(slot_names_[i] + "/", layout_, optimizer.slots[i], tensors);
  }
  for (size_t i = 0; i < scalar_names_.size(); ++i) {
    tensors.push_back(Scalar(scalar_names_[i], optimizer.scalars[i]));
  }
  tensors.push_back(Scalar("rng/key", rng_key));
  tensors.push_back(Scalar("position/step", position.step));
  tensors.push_back(Scalar("position/epoch", position.epoch));
  tensors.push_back(Scalar("position/sample", position.sample));
  tensors.push_back(Scalar("position/phase", position.phase));
  tensors.push_back(Scalar("metrics/loss_sum", metrics.loss_sum));
  tensors.push_back(Scalar("metrics/correct", metrics.correct));
  tensors.push_back(Scalar("metrics/rows", metrics.rows));
  tensors.push_back(Vector("history/loss", history.loss));
  tensors.push_back(Vector("history/correct", history.correct));
  tensors.push_back(Vector("history/rows", history.rows));
  tensors.push_back(Vector("history/val_loss", history.val_loss));
  tensors.push_back(Vector("history/val_correct", history.val_correct));
  tensors.push_back(Vector("history/val_rows", history.val_rows));
  return tensors;
}

// All that does not lie in the state itself, and may move.
std::vector<std::span<const std::byte>> TrainState::Arrays() const {
  std::vector<std::span<const std::byte>> arrays;
  arrays.reserve(8 + optimizer.slots.size());
  const auto add = [&](const auto& values) {
    arrays.push_back(std::as_bytes(std::span(values)));
  };
  add(parameters);
  for (const std::vector<float>& slot : optimizer.slots) add(slot);
  add(optimizer.scalars);
  add(history.loss);
  add(history.correct);
  add(history.rows);
  add(history.val_loss);
  add(history.val_correct);
  add(history.val_rows);
  return arrays;
}

const std::vector<TensorView>& TrainState::Tensors() const {
  std::vector<std::span<const std::byte>> arrays = Arrays();
  const auto same = [](std::span<const std::byte> a,
                       std::span<const std::byte> b) {
    return a.data() == b.data() && a.size() == b.size();
  };
  if (views_.state == this && std::ranges::equal(views_.arrays, arrays, same)) {
    return views_.tensors;
  }
  views_ = {.state = this, .arrays = std::move(arrays), .tensors = {}};
  // The views are handed out as read-only.
  for (MutableTensorView& tensor :
       const_cast<TrainState*>(this)->MutableTensors()) {
    views_.tensors.push_back({.name = std::move(tensor.name),
                              .dtype = tensor.dtype,
                              .shape = std::move(tensor.shape),
                              .bytes = tensor.bytes});
  }
  std::ranges::sort(views_.tensors, {}, &TensorView::name);
  return views_.tensors;
}

Digest TrainState::ComputeDigest() const { return StateDigest(Tensors()); }

Status TrainState::ResizeHistory(const std::map<std::string, Tensor>& tensors) {
  // Far beyond any run, and small enough to allocate.
  constexpr uint64_t kMaxEpochs = 1 << 24;
  const auto resize = [&](const std::string& name, auto& values) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.shape.size() != 1 ||
        found->second.shape[0] > kMaxEpochs) {
      return DataLoss(fmt::format(
          "tensor {}: expected one dimension of at most {}", name, kMaxEpochs));
    }
    values.resize(found->second.shape[0]);
    return OkStatus();
  };
  RETURN_IF_ERROR(resize("history/loss", history.loss));
  RETURN_IF_ERROR(resize("history/correct", history.correct));
  RETURN_IF_ERROR(resize("history/rows", history.rows));
  RETURN_IF_ERROR(resize("history/val_loss", history.val_loss));
  RETURN_IF_ERROR(resize("history/val_correct", history.val_correct));
  return resize("history/val_rows", history.val_rows);
}

Status TrainState::Restore(const std::map<std::string, Tensor>& tensors,
                           const FaultPoints& faults) {
  RETURN_IF_ERROR(ResizeHistory(tensors));
  const uint64_t initial_rng_key = rng_key;
  const std::vector<MutableTensorView> wanted = MutableTensors();
  if (wanted.size() != tensors.size()) {
    return DataLoss(fmt::format("expected {} tensors, the checkpoint has {}",
                                wanted.size(), tensors.size()));
  }
  for (const MutableTensorView& tensor : wanted) {
    const auto found = tensors.find(tensor.name);
    if (found == tensors.end()) {
      return DataLoss(
          fmt::format("tensor {}: not in the checkpoint", tensor.name));
    }
    RETURN_IF_ERROR(CopyInto(tensor, found->second));
  }
  if (position.phase > static_cast<uint64_t>(Phase::kCallbacksDue)) {
    return DataLoss(fmt::format("position/phase: expected 0 to 2, found {}",
                                position.phase));
  }
  if (faults.Planted(PlantedBug::kLoseRngKey)) rng_key = ~initial_rng_key;
  if (faults.Planted(PlantedBug::kLosePosition)) position.sample = 0;
  if (faults.Planted(PlantedBug::kLoseMetrics)) metrics = {};
  return OkStatus();
}

}  // namespace gauntlet
