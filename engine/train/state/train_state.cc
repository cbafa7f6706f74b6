#include "engine/train/state/train_state.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/check.h"
#include "engine/ckpt/state/shard_plan.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/large_array.h"
#include "engine/numerics.h"
#include "engine/train/state/spare_arrays.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Names of tensors, in the order of ForEachArray. kNumberNames are single
// numbers; kHistoryNames are arrays with one number per epoch. In the names,
// "rows" are samples, as in checkpoints of all earlier versions.
constexpr const char* kNumberNames[] = {
    "rng/key",        "position/step",    "position/epoch",  "position/sample",
    "position/phase", "metrics/loss_sum", "metrics/correct", "metrics/rows"};
constexpr const char* kHistoryNames[] = {
    "history/loss",     "history/correct",     "history/rows",
    "history/val_loss", "history/val_correct", "history/val_rows"};
// Number of arrays of ForEachArray besides the slots.
constexpr size_t kOtherArrays =
    5 + std::size(kNumberNames) + std::size(kHistoryNames);

template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kU64;
}

bool IsCallbackTensor(std::string_view tensor) {
  return tensor.starts_with(kCallbackPrefix);
}

// REQUIRES: IsCallbackTensor(tensor).
Status OtherCallbacksError(std::string_view tensor,
                           std::string_view difference) {
  return OtherJob(fmt::format(
      "callback {}: {}. Use another checkpoint directory, or the original "
      "callbacks",
      tensor.substr(kCallbackPrefix.size()), difference));
}

// Copies `from`, a tensor of a checkpoint, to `to`, the bytes of `view`. Copies
// nothing if `from` was already read into `to`. Returns kDataLoss if type,
// shape or size differ.
Status CopyInto(const TensorView& view, std::span<std::byte> to,
                const TensorView& from) {
  if (from.dtype != view.dtype || from.shape != view.shape ||
      from.bytes.size() != to.size()) {
    return DataLoss(fmt::format(
        "tensor {}: expected {} bytes, the checkpoint has {} of another type "
        "or shape",
        view.name, to.size(), from.bytes.size()));
  }
  if (!to.empty() && to.data() != from.bytes.data()) {
    std::memcpy(to.data(), from.bytes.data(), to.size());
  }
  return OkStatus();
}

void AssertReadable(const TrainState& state) {
  const Status readable = state.CheckReadable();
  CHECK(readable.ok(), readable.message());
}

}  // namespace

TrainState::TrainState(const Model& model, const Optimizer& rule,
                       const JobSpec& job, StartFrom start,
                       std::span<const HookState> hooks)
    : parameters(MakeLargeArray<float>(model.parameter_count())),
      optimizer(rule.InitialState(model.parameter_count())),
      accumulated(MakeLargeArray<float>(
          job.accumulate > 1 ? model.parameter_count() : 0)),
      replica_state(model.replica_state_size() *
                    static_cast<size_t>(job.replicas)),
      rng_key(job.seed) {
  for (const HookState& hook : hooks) {
    hook_state.resize(hook_state.size() + hook.size);
  }
  position.epoch = job.start.epoch;
  NameTensors(model, rule, job.replicas, hooks);
  if (start == StartFrom::kInitialParameters) {
    model.Initialize(rng_key, parameters);
  }
}

std::vector<float>& TrainState::LargeArray(size_t index) {
  if (index == 0) return parameters;
  if (index <= optimizer.slots.size()) return optimizer.slots[index - 1];
  return accumulated;
}

UpdatedArray TrainState::NextOf(size_t index) {
  return spare_ == nullptr ? UpdatedArray(LargeArray(index))
                           : spare_->NextOf(index);
}

void TrainState::OwnLargeArrays() {
  for (size_t i = 0; i < large_arrays(); ++i) {
    const UpdatedArray next = NextOf(i);
    if (next.to.data() == next.from.data()) continue;
    std::copy_n(next.from.data(), next.size(), next.to.data());
  }
}

template <typename State, typename Visit>
void TrainState::ForEachArray(State& state, const Visit& visit) {
  const auto visit_one = [&](auto& value) {
    visit(std::span<std::remove_reference_t<decltype(value)>, 1>(&value, 1));
  };
  CHECK(state.optimizer.slots.size() + kOtherArrays <= kMaxArrays,
        "too many slots");
  visit(std::span(state.parameters));
  for (auto& slot : state.optimizer.slots) visit(std::span(slot));
  visit(std::span(state.optimizer.scalars));
  visit(std::span(state.accumulated));
  visit(std::span(state.replica_state));
  visit(std::span(state.hook_state));
  visit_one(state.rng_key);
  visit_one(state.position.step);
  visit_one(state.position.epoch);
  visit_one(state.position.sample);
  visit_one(state.position.phase);
  visit_one(state.metrics.loss_sum);
  visit_one(state.metrics.correct);
  visit_one(state.metrics.samples);
  visit(std::span(state.history.loss));
  visit(std::span(state.history.correct));
  visit(std::span(state.history.samples));
  visit(std::span(state.history.val_loss));
  visit(std::span(state.history.val_correct));
  visit(std::span(state.history.val_samples));
}

template <typename Byte, typename State>
auto TrainState::ArraysOf(State& state)
    -> std::array<ArrayView<Byte>, kMaxArrays> {
  std::array<ArrayView<Byte>, kMaxArrays> arrays;
  size_t count = 0;
  ForEachArray(state, [&](auto values) {
    using T = std::remove_const_t<typename decltype(values)::element_type>;
    const std::span<Byte> bytes(reinterpret_cast<Byte*>(values.data()),
                                values.size_bytes());
    arrays[count++] = {DTypeOf<T>(), bytes};
  });
  return arrays;
}

// Lists the tensors with names, shapes and places. View() sets their types and
// bytes, and the sizes of whole arrays.
void TrainState::NameTensors(const Model& model, const Optimizer& rule,
                             int replicas, std::span<const HookState> hooks) {
  const std::vector<std::string> slots = rule.slot_names();
  const std::vector<std::string> scalars = rule.scalar_names();
  const size_t most = model.parameters().size() * (2 + slots.size()) +
                      scalars.size() + model.replica_state().size() +
                      hooks.size() + std::size(kNumberNames) +
                      std::size(kHistoryNames);
  std::vector<TensorView> tensors;
  std::vector<Place> places;
  tensors.reserve(most);
  places.reserve(most);
  size_t array = 0;
  const auto add = [&](std::string name, std::vector<uint64_t> shape,
                       const Place& place) {
    tensors.push_back({.name = std::move(name), .shape = std::move(shape)});
    places.push_back(place);
  };
  const auto add_parameters = [&](const std::string& prefix) {
    for (const ParameterInfo& info : model.parameters()) {
      add(prefix + info.name, info.shape,
          {.array = array,
           .offset = info.offset * sizeof(float),
           .bytes = info.size * sizeof(float),
           .parameter_at = prefix.size()});
    }
    ++array;
  };
  add_parameters("");
  for (const std::string& slot : slots) add_parameters(slot + "/");
  for (size_t i = 0; i < scalars.size(); ++i) {
    add(scalars[i], {},
        {.array = array, .offset = i * sizeof(float), .bytes = sizeof(float)});
  }
  ++array;
  if (accumulated.empty()) {
    ++array;
  } else {
    add_parameters("accumulated/");
  }
  for (const ParameterInfo& info : model.replica_state()) {
    const auto rows = static_cast<uint64_t>(replicas);
    std::vector<uint64_t> shape = {rows};
    shape.insert(shape.end(), info.shape.begin(), info.shape.end());
    add(info.name, std::move(shape),
        {.array = array,
         .offset = rows * info.offset * sizeof(float),
         .bytes = rows * info.size * sizeof(float)});
  }
  ++array;
  size_t offset = 0;
  for (const HookState& hook : hooks) {
    const size_t bytes = hook.size * sizeof(float);
    add(hook.name, {hook.size},
        {.array = array, .offset = offset, .bytes = bytes});
    offset += bytes;
  }
  ++array;
  for (const char* const name : kNumberNames) {
    add(name, {}, {.array = array++, .bytes = kAll});
  }
  for (const char* const name : kHistoryNames) {
    add(name, {0}, {.array = array++, .bytes = kAll});
  }
  SetTensorsInNameOrder(std::move(tensors), places);
}

void TrainState::SetTensorsInNameOrder(std::vector<TensorView> tensors,
                                       std::span<const Place> places) {
  tensors_.reserve(tensors.size());
  places_.reserve(tensors.size());
  for (const size_t i : NameOrder(tensors)) {
    tensors_.push_back(std::move(tensors[i]));
    places_.push_back(places[i]);
  }
}

Status TrainState::CheckReadable() const {
  if (!restoring_) return OkStatus();
  return FailedPrecondition("the state was not restored completely");
}

const std::vector<TensorView>& TrainState::Tensors() const {
  AssertReadable(*this);
  return View();
}

const std::vector<TensorView>& TrainState::View() const {
  const auto arrays = ArraysOf<const std::byte>(*this);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Place& place = places_[i];
    const auto& array = arrays[place.array];
    TensorView& tensor = tensors_[i];
    tensor.dtype = array.dtype;
    tensor.bytes = place.In(array.bytes);
    if (place.bytes == kAll && !tensor.shape.empty()) {
      tensor.shape[0] = array.bytes.size() / DTypeBytes(array.dtype);
    }
  }
  return tensors_;
}

bool TrainState::BelongsToAny(size_t tensor,
                              std::span<const std::string> names) const {
  const size_t begin = places_[tensor].parameter_at;
  if (names.empty() || begin == kNoParameter) return true;
  const std::string_view parameter =
      std::string_view(tensors_[tensor].name).substr(begin);
  return std::ranges::find(names, parameter) != names.end();
}

std::vector<TensorView> TrainState::TensorsOf(
    std::span<const std::string> only_parameters) const {
  const std::vector<TensorView>& all = View();
  std::vector<TensorView> tensors;
  tensors.reserve(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (BelongsToAny(i, only_parameters)) tensors.push_back(all[i]);
  }
  return tensors;
}

Digest TrainState::ComputeDigest(
    std::span<const BlockDigests> elsewhere) const {
  AssertReadable(*this);
  return digester_.Compute(View(), elsewhere);
}

Status TrainState::ResizeHistory(std::span<const TensorView> tensors) {
  // No run has this many epochs, and a list of this length can still be
  // allocated.
  constexpr uint64_t kMaxEpochs = 1 << 24;
  const auto resize = [&](std::string_view name, auto& values) {
    const TensorView* const found = FindTensor(tensors, name);
    if (found == nullptr || found->shape.size() != 1 ||
        found->shape[0] > kMaxEpochs) {
      return DataLoss(fmt::format(
          "tensor {}: expected one dimension of at most {}", name, kMaxEpochs));
    }
    values.resize(found->shape[0]);
    return OkStatus();
  };
  RETURN_IF_ERROR(resize("history/loss", history.loss));
  RETURN_IF_ERROR(resize("history/correct", history.correct));
  RETURN_IF_ERROR(resize("history/rows", history.samples));
  RETURN_IF_ERROR(resize("history/val_loss", history.val_loss));
  RETURN_IF_ERROR(resize("history/val_correct", history.val_correct));
  return resize("history/val_rows", history.val_samples);
}

// Checks the lengths of the history: each list has one entry per complete
// epoch. An epoch whose callbacks are due has entries only in the lists of the
// validation.
Status TrainState::CheckHistory() const {
  if (position.phase > static_cast<uint64_t>(Phase::kCallbacksDue)) {
    return DataLoss(fmt::format("position/phase: expected 0 to 2, found {}",
                                position.phase));
  }
  const size_t trained = history.loss.size();
  const size_t validated =
      trained + (position.phase_of() == Phase::kCallbacksDue ? 1 : 0);
  const auto check = [](std::string_view name, const auto& values,
                        size_t expected) {
    if (values.size() == expected) return OkStatus();
    return DataLoss(fmt::format(
        "tensor history/{}: expected {} epochs by history/loss and the "
        "position, found {}",
        name, expected, values.size()));
  };
  RETURN_IF_ERROR(check("correct", history.correct, trained));
  RETURN_IF_ERROR(check("rows", history.samples, trained));
  RETURN_IF_ERROR(check("val_loss", history.val_loss, validated));
  RETURN_IF_ERROR(check("val_correct", history.val_correct, validated));
  return check("val_rows", history.val_samples, validated);
}

// Returns the error for a checkpoint with superfluous tensors; names the first
// one.
Status TrainState::SuperfluousTensor(
    std::span<const TensorView> tensors,
    std::span<const std::string> only_parameters) const {
  const auto is_wanted = [&](const TensorView& tensor) {
    const TensorView* const own = FindTensor(tensors_, tensor.name);
    return own != nullptr &&
           BelongsToAny(static_cast<size_t>(own - tensors_.data()),
                        only_parameters);
  };
  const auto extra = std::ranges::find_if_not(tensors, is_wanted);
  CHECK(extra != tensors.end(), "every tensor is wanted");
  if (IsCallbackTensor(extra->name)) {
    return OtherCallbacksError(extra->name, "in the checkpoint, none now");
  }
  return DataLoss(fmt::format(
      "tensor {}: in the checkpoint, but not of this run", extra->name));
}

std::span<std::byte> TrainState::PlaceToRestore(const TensorView& tensor) {
  const TensorView* const own = FindTensor(tensors_, tensor.name);
  if (own == nullptr) return {};
  const Place& place = places_[static_cast<size_t>(own - tensors_.data())];
  const auto array = ArraysOf<std::byte>(*this)[place.array];
  if (place.bytes == kAll || own->shape != tensor.shape ||
      array.dtype != tensor.dtype) {
    return {};
  }
  restoring_ = true;
  return place.In(array.bytes);
}

Status TrainState::Restore(std::span<const TensorView> tensors,
                           const FaultPoints& faults,
                           std::span<const std::string> only_parameters) {
  RETURN_IF_ERROR(ResizeHistory(tensors));
  const uint64_t initial_rng_key = rng_key;
  const std::vector<TensorView>& views = View();
  const auto arrays = ArraysOf<std::byte>(*this);
  size_t taken = 0;
  // Both lists are in name order.
  const TensorView* next = tensors.data();
  const TensorView* const end = next + tensors.size();
  for (size_t i = 0; i < views.size(); ++i) {
    const std::string& name = views[i].name;
    const Place& place = places_[i];
    if (!BelongsToAny(i, only_parameters)) continue;
    if (next == end || next->name != name) next = FindTensor(tensors, name);
    if (next == nullptr && IsCallbackTensor(name)) {
      return OtherCallbacksError(name, "none in the checkpoint, one now");
    }
    if (next == nullptr) {
      return DataLoss(fmt::format("tensor {}: not in the checkpoint", name));
    }
    if (IsCallbackTensor(name) && next->shape != views[i].shape) {
      return OtherCallbacksError(
          name, fmt::format("its state has {} numbers in the checkpoint, {} "
                            "now: an option differs",
                            fmt::join(next->shape, "x"),
                            fmt::join(views[i].shape, "x")));
    }
    RETURN_IF_ERROR(
        CopyInto(views[i], place.In(arrays[place.array].bytes), *next));
    ++next;
    ++taken;
  }
  if (taken != tensors.size())
    return SuperfluousTensor(tensors, only_parameters);
  RETURN_IF_ERROR(CheckHistory());
  restoring_ = false;
  if (faults.Planted(PlantedBug::kLoseRngKey)) rng_key = ~initial_rng_key;
  if (faults.Planted(PlantedBug::kLosePosition)) position.sample = 0;
  if (faults.Planted(PlantedBug::kLoseMetrics)) metrics = {};
  return OkStatus();
}

void DropHookState(const TrainState& state, std::vector<TensorView>& tensors) {
  const std::vector<TensorView>& known = state.View();
  std::erase_if(tensors, [&](const TensorView& tensor) {
    return FindTensor(known, tensor.name) == nullptr;
  });
}

void StartFromValues(const Model& model, std::span<const float> values,
                     TrainState& state) {
  const auto parameters = values.first(model.parameter_count());
  const auto kept = values.subspan(parameters.size());
  std::ranges::copy(parameters, state.parameters.begin());
  if (kept.empty()) return;
  const size_t replicas = state.replica_state.size() / kept.size();
  for (const ParameterInfo& info : model.replica_state()) {
    const auto of_one = kept.subspan(info.offset, info.size);
    float* to = state.replica_state.data() + info.offset * replicas;
    for (size_t i = 0; i < replicas; ++i) {
      to = std::ranges::copy(of_one, to).out;
    }
  }
}

void CombineReplicas(std::span<const float> replica_states,
                     std::span<float> one) {
  for (size_t i = 0; i < one.size(); ++i) {
    one[i] = numerics::ReplicaMean(replica_states.data() + i, one.size(),
                                   replica_states.size() / one.size());
  }
}

std::vector<float> CombinedReplicaState(const Model& model,
                                        const TrainState& state) {
  std::vector<float> combined(model.replica_state_size());
  if (combined.empty()) return combined;
  const size_t replicas = state.replica_state.size() / combined.size();
  for (const ParameterInfo& info : model.replica_state()) {
    CombineReplicas(std::span(state.replica_state)
                        .subspan(info.offset * replicas, info.size * replicas),
                    std::span(combined).subspan(info.offset, info.size));
  }
  return combined;
}

std::vector<float> ValuesOf(const Model& model, const TrainState& state) {
  AssertReadable(state);
  std::vector<float> values = state.parameters;
  std::ranges::copy(CombinedReplicaState(model, state),
                    std::back_inserter(values));
  return values;
}

}  // namespace gauntlet
