// Everything that the future of a run depends on, as one value in host memory.
// While it is trained, a ResidentState may have newer values on a device.
//
// A checkpoint and the state digest cover exactly this: parameters, optimizer
// slots and scalars, pending gradients, the states of replicas and hooks, the
// RNG key, the position with its phase, the running metrics of the epoch, and
// the history of complete epochs.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_TRAIN_STATE_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_TRAIN_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ckpt/state/state_digest.h"
#include "engine/digest.h"
#include "engine/math/kernels.h"
#include "engine/model/model.h"
#include "engine/model/optimizers/optimizer.h"
#include "engine/status.h"
#include "engine/tensor.h"
#include "engine/world/event_log.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

class SpareArrays;

// Position of a run, between two operations.
struct Position {
  // Steps so far: global batches whose gradients the optimizer received. With
  // gradient accumulation every `accumulate`-th step makes an update: step %
  // accumulate gradients are pending, and step / accumulate updates were made.
  // Saves, stops and faults may fall on any step.
  uint64_t step = 0;
  uint64_t epoch = 0;   // complete epochs so far
  uint64_t sample = 0;  // samples of this epoch used so far
  uint64_t phase = 0;   // a Phase

  Phase phase_of() const { return static_cast<Phase>(phase); }
};

// Metrics of the current epoch.
struct RunningMetrics {
  float loss_sum = 0.0f;  // sum over steps of (mean loss * samples)
  int64_t correct = 0;
  int64_t samples = 0;
};

// Each list has one entry per epoch. At the end of an epoch, the entries of the
// validation are added before those of the training.
struct History {
  std::vector<float> loss;
  std::vector<int64_t> correct;
  std::vector<int64_t> samples;
  std::vector<float> val_loss;
  std::vector<int64_t> val_correct;
  std::vector<int64_t> val_samples;
};

// Returns the fraction of the samples that were classified correctly; 0 if
// there are no samples.
inline double ShareOf(int64_t correct, int64_t samples) {
  return samples == 0
             ? 0.0
             : static_cast<double>(correct) / static_cast<double>(samples);
}

inline constexpr std::string_view kCallbackPrefix = "callbacks/";

// Numbers that a hook of the loop (loop_hooks.h) keeps in the state.
struct HookState {
  // kCallbackPrefix and the callback's name; unique among all tensors.
  std::string name;
  size_t size = 0;  // floats
};

// Numbers of floats in a state that belong to the model.
struct ModelExtent {
  size_t parameters = 0;
  size_t replica_state = 0;  // of all replicas
};

// Source of a state's parameters.
enum class StartFrom : uint8_t {
  kInitialParameters,
  kCheckpoint,  // zeros until Restore fills them
};

class TrainState {
 public:
  // The large arrays, by index: parameters, each slot, accumulated gradients.
  size_t large_arrays() const { return optimizer.slots.size() + 2; }
  std::vector<float>& LargeArray(size_t index);
  // Sets the arrays to which updates write while a save reads the large arrays.
  // Null: each update is in place, and no save may read the large arrays during
  // updates.
  void SetSpareArrays(SpareArrays* spare) { spare_ = spare; }
  SpareArrays* spare() const { return spare_; }
  // Returns where an update reads the current values of a large array, and
  // where it writes the next values. Both are the same place, unless a save
  // reads the array. In that case, the array moves to its spare place, which
  // the update must fill.
  UpdatedArray NextOf(size_t index);
  // Makes the large arrays writable in place: moves those that a save reads to
  // their spare places, and copies their values.
  void OwnLargeArrays();

  // Creates the state before the first step, with empty slots.
  TrainState(const Model& model, const Optimizer& optimizer, const JobSpec& job,
             StartFrom start = StartFrom::kInitialParameters,
             std::span<const HookState> hooks = {});

  // Returns views into this state, in name order. They are valid until the next
  // call, or until the state moves or changes its shape (end of an epoch,
  // Restore). CHECK-fails if the state is unusable (PlaceToRestore). Not
  // thread-safe.
  const std::vector<TensorView>& Tensors() const;
  // As Tensors, but callable in an unusable state too.
  const std::vector<TensorView>& View() const;
  // CHECK-fails if the state is unusable. `elsewhere` is as in StateDigester.
  Digest ComputeDigest(std::span<const BlockDigests> elsewhere = {}) const;
  // Returns the tensors of these parameters, with their slots and pending
  // gradients, and the tensors that belong to no parameter. Empty: all.
  std::vector<TensorView> TensorsOf(
      std::span<const std::string> only_parameters) const;

  // Returns the place in this state of a checkpoint's tensor, given its name,
  // dtype and shape. Empty: the state has no such tensor, or Restore must copy
  // the tensor, because its size may change. A place is valid until an array
  // changes its size; a move of the state keeps it. Once a place was returned,
  // the state is unusable until Restore succeeds.
  std::span<std::byte> PlaceToRestore(const TensorView& tensor);
  // kFailedPrecondition: the state is unusable.
  Status CheckReadable() const;
  // Sets the state from the tensors of a checkpoint, which are in name order.
  // Copies those that were not already read into their places (PlaceToRestore).
  // With `only_parameters` the checkpoint has only the tensors of
  // TensorsOf(only_parameters); the other tensors keep their values. `faults`
  // switches on planted bugs that lose a part of the state. After an error the
  // state is unusable: kOtherJob names a callback whose tensor is missing,
  // superfluous, or of another type or shape; kDataLoss names another such
  // tensor.
  Status Restore(std::span<const TensorView> tensors, const FaultPoints& faults,
                 std::span<const std::string> only_parameters = {});

  std::vector<float> parameters;
  OptimizerState optimizer;
  // Sum of the pending gradients, in the order of their steps; +0 if there are
  // none. Empty without gradient accumulation.
  std::vector<float> accumulated;
  // State that each replica keeps for itself: for each tensor of the model's
  // replica_state(), replicas x size floats, in ascending order of replicas.
  // Every rank has the state of all replicas. Usually empty.
  std::vector<float> replica_state;
  // State of all hooks, one after another; initially +0. Usually empty.
  std::vector<float> hook_state;
  uint64_t rng_key = 0;
  Position position;
  RunningMetrics metrics;
  History history;
  // First step after which loss or state was not finite, as far as this worker
  // knows. Not covered by any digest.
  std::optional<uint64_t> not_finite_since;

 private:
  static constexpr size_t kAll = SIZE_MAX;
  static constexpr size_t kNoParameter = SIZE_MAX;
  // Place of a tensor: a part of one of the arrays of ForEachArray.
  struct Place {
    size_t array = 0;
    size_t offset = 0;  // bytes
    size_t bytes = 0;   // kAll: the whole array, in one dimension
    // Offset of the parameter's name in the tensor's name.
    size_t parameter_at = kNoParameter;
    template <typename Byte>
    std::span<Byte> In(std::span<Byte> array_bytes) const {
      return bytes == kAll ? array_bytes : array_bytes.subspan(offset, bytes);
    }
  };

  // Calls visit(values) for each array of a state, in a fixed order. A single
  // number is visited as a span of one element. The state may be const.
  template <typename State, typename Visit>
  static void ForEachArray(State& state, const Visit& visit);

  // Element type and bytes of one of these arrays.
  template <typename Byte>
  struct ArrayView {
    DType dtype = DType::kF32;
    std::span<Byte> bytes;
  };
  static constexpr size_t kMaxArrays = 24;
  template <typename Byte, typename State>
  static std::array<ArrayView<Byte>, kMaxArrays> ArraysOf(State& state);
  // Returns true if the tensor belongs to one of these parameters, or to no
  // parameter.
  bool BelongsToAny(size_t tensor, std::span<const std::string> names) const;
  Status SuperfluousTensor(std::span<const TensorView> tensors,
                           std::span<const std::string> only_parameters) const;
  void NameTensors(const Model& model, const Optimizer& rule, int replicas,
                   std::span<const HookState> hooks);
  void SetTensorsInNameOrder(std::vector<TensorView> tensors,
                             std::span<const Place> places);
  Status ResizeHistory(std::span<const TensorView> tensors);
  Status CheckHistory() const;

  mutable std::vector<TensorView> tensors_;  // in name order
  std::vector<Place> places_;                // of each tensor
  mutable StateDigester digester_;
  SpareArrays* spare_ = nullptr;
  bool restoring_ = false;  // since PlaceToRestore, until Restore succeeds
};

// Removes from a checkpoint's tensors those that the state does not have. They
// are states of hooks; the model does not depend on them.
void DropHookState(const TrainState& state, std::vector<TensorView>& tensors);

// Returns the model's TrainedValues in that state.
std::vector<float> ValuesOf(const Model& model, const TrainState& state);

// Copies a model's TrainedValues to the parameters and to each replica's own
// state. REQUIRES: `values` has the model's number of values.
void StartFromValues(const Model& model, std::span<const float> values,
                     TrainState& state);

// Returns the replica state that an evaluation uses: the mean over the
// replicas, added in their order, laid out as the model's replica_state().
std::vector<float> CombinedReplicaState(const Model& model,
                                        const TrainState& state);
// As CombinedReplicaState, for one tensor. `replica_states` has the values of
// one replica after another; `one` receives their mean.
void CombineReplicas(std::span<const float> replica_states,
                     std::span<float> one);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_TRAIN_STATE_H_
