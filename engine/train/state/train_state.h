// Everything that the future of a run depends on, as one value.
//
// A checkpoint holds exactly this and the state digest covers exactly this:
// parameters, optimizer slots and scalars, the RNG key, the position with its
// phase, the running metrics of the epoch, and the history of complete epochs.
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

#include "engine/ckpt/state/known_states.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/digest.h"
#include "engine/math/kernels.h"
#include "engine/math/memory.h"
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
  // Steps so far: global batches whose gradients the optimizer was given. With
  // gradient accumulation it makes an update of every `accumulate`-th, so that
  // step % accumulate says how many gradients are waiting and step / accumulate
  // how many updates there were. Saves, stops and faults may fall on any step.
  uint64_t step = 0;
  uint64_t epoch = 0;   // complete epochs so far
  uint64_t sample = 0;  // rows of this epoch's order used so far
  uint64_t phase = 0;   // a Phase

  Phase phase_of() const { return static_cast<Phase>(phase); }
};

// Metrics of the epoch under way.
struct RunningMetrics {
  float loss_sum = 0.0f;  // sum over steps of (mean loss * rows)
  int64_t correct = 0;
  int64_t rows = 0;
};

// One entry per epoch; the validation's comes before the training's.
struct History {
  std::vector<float> loss;
  std::vector<int64_t> correct;
  std::vector<int64_t> rows;
  std::vector<float> val_loss;
  std::vector<int64_t> val_correct;
  std::vector<int64_t> val_rows;
};

// The share of the rows that were right; 0 of none.
inline double ShareOf(int64_t correct, int64_t rows) {
  return rows == 0 ? 0.0
                   : static_cast<double>(correct) / static_cast<double>(rows);
}

inline constexpr std::string_view kCallbackPrefix = "callbacks/";

// Numbers that a hook of the loop (loop_hooks.h) keeps in the state.
struct HookState {
  // kCallbackPrefix and the callback's name, unlike all other tensors'.
  std::string name;
  size_t size = 0;  // floats
};

// How many floats of a state are the model's.
struct ModelExtent {
  size_t parameters = 0;
  size_t replica_state = 0;  // of all replicas
};

// Source of a state's parameters.
enum class StartFrom : uint8_t {
  kInitialParameters,
  kCheckpoint,  // zero until Restore brings them
};

class TrainState {
 public:
  // Keeps values of parameters, slots and accumulated gradients that are newer
  // than the state's.
  class DeviceMirror {
   public:
    virtual ~DeviceMirror() = default;
    // Brings the newer values into the state. An error: they are lost.
    virtual Status BringBack() = 0;
    // The same; afterwards the state's values are the newest.
    virtual Status StateChanges() = 0;
    // Returns the digests of the blocks of each tensor of the state, taken
    // where its newest values are; none if the state has them. An error: they
    // are lost.
    virtual Result<std::vector<BlockDigests>> DigestsOf(
        std::span<const TensorView> tensors) = 0;
    virtual Memory& memory() const = 0;
    // Returns the place of the tensor's newest values in that memory; empty:
    // the state has them.
    virtual std::span<const std::byte> NewestOf(
        const TensorView& tensor) const = 0;
  };
  // Null: no device mirror. REQUIRES: the state stays where it is meanwhile.
  void set_device_mirror(DeviceMirror* device_mirror) {
    device_mirror_ = device_mirror;
  }
  DeviceMirror* device_mirror() const { return device_mirror_; }
  // Takes digests from `known` instead of computing them, and puts computed
  // ones there. Null: none. Outlives the state.
  void set_known_states(KnownStates* known) { known_ = known; }
  // The large arrays, by number: parameters, each slot, accumulated gradients.
  size_t large_arrays() const { return optimizer.slots.size() + 2; }
  std::vector<float>& LargeArray(size_t index);
  // Arrays that updates write to while a save reads the large ones; null: each
  // update is in place, and no save reads them meanwhile.
  void ChangesWith(SpareArrays* spare) { spare_ = spare; }
  SpareArrays* spare() const { return spare_; }
  // Returns the target of the next values of a large array: its place, or
  // another one if a save reads it there. That is its place then, and has no
  // values yet.
  UpdatedArray NextOf(size_t index);
  // From now on the large arrays may be written in place: those that a save
  // reads are copied.
  void OwnLargeArrays();
  // The newest values are gone: nobody may look any more.
  void Lost() { lost_ = true; }
  // Brings here what a device mirror has. An error: it is lost, and nobody may
  // look at the state, by the arrays below or by the functions, which are not
  // to find that out (CHECK). Of no effect until training goes on.
  Status SyncToHost() const;

  // The state before the first step, with empty slots.
  TrainState(const Model& model, const Optimizer& optimizer, const JobSpec& job,
             StartFrom start = StartFrom::kInitialParameters,
             std::span<const HookState> hooks = {});

  // Views into this state, in the order of their names; valid until it changes
  // shape (an epoch ends, a restore), moves, or is asked again. Not for two
  // tasks at once.
  const std::vector<TensorView>& Tensors() const;
  // The same for the values that are here: a device mirror's are not brought.
  const std::vector<TensorView>& View() const;
  Digest ComputeDigest() const;
  // Tells whether an array whose digest was taken before is digested anew.
  enum class ArrayDigests : uint8_t { kRecompute, kReuse };
  // The same without bringing a device mirror's values here. An error as of
  // SyncToHost.
  Result<Digest> NewestDigest(
      ArrayDigests arrays = ArrayDigests::kRecompute) const;
  // Called after a write to parameters or slots from outside: digests that were
  // taken of them are outdated.
  void ArraysChanged() { array_digests_.clear(); }
  // Digest of the parameters' bytes, if a digest of the state took it since
  // they changed.
  std::optional<Digest> ParametersDigest() const {
    if (array_digests_.empty()) return std::nullopt;
    return array_digests_.front();
  }
  // Tensors of these parameters, with their slots and waiting gradients, and
  // the tensors of no parameter. Empty: all. A device mirror's values are not
  // brought here.
  std::vector<TensorView> TensorsOf(
      std::span<const std::string> of_parameters) const;

  // Takes over the tensors of a checkpoint, in the order of their names.
  // kDataLoss names a tensor that is missing, superfluous, or of another type
  // or shape, kOtherJob a callback with such a tensor; the state is then
  // unusable. `faults` switches on the planted bugs that lose a part of the
  // state. With `of_parameters` the checkpoint has only those of TensorsOf: the
  // others stay as they are.
  Status Restore(std::span<const TensorView> tensors, const FaultPoints& faults,
                 std::span<const std::string> of_parameters = {});

  std::vector<float> parameters;
  OptimizerState optimizer;
  // Sum of the gradients that wait for their update, in the order of their
  // steps; +0 if none waits. Empty without gradient accumulation.
  std::vector<float> accumulated;
  // State that each replica keeps for itself: for each of the model's
  // replica_state() replicas x size floats, in ascending order of replicas.
  // Every rank has all of it, whichever replicas it hosts. Usually empty.
  std::vector<float> replica_state;
  // State of all hooks, one after another; initially +0. Usually empty.
  std::vector<float> hook_state;
  uint64_t rng_key = 0;
  Position position;
  RunningMetrics metrics;
  History history;
  // The first step of the run after which loss or state was not finite, as far
  // as this worker knows. No part of the state: no digest covers it.
  std::optional<uint64_t> not_finite_since;

 private:
  static constexpr size_t kAll = SIZE_MAX;
  static constexpr size_t kNoParameter = SIZE_MAX;
  // Place of a tensor: a part of one of the arrays below.
  struct Place {
    size_t array = 0;
    size_t offset = 0;  // bytes
    size_t bytes = 0;   // kAll: the whole array, in one dimension
    // Offset of its parameter's name in the tensor's name.
    size_t parameter_at = kNoParameter;
    template <typename Byte>
    std::span<Byte> In(std::span<Byte> of_array) const {
      return bytes == kAll ? of_array : of_array.subspan(offset, bytes);
    }
  };

  // Calls take(values) for each array of a state, const or not, in an order of
  // their own. A single number is a span of one.
  template <typename State, typename Take>
  static void ForArrays(State& state, const Take& take);

  // Element type and bytes of each of them.
  template <typename Byte>
  struct ArrayView {
    DType dtype = DType::kF32;
    std::span<Byte> bytes;
  };
  static constexpr size_t kMaxArrays = 24;
  template <typename Byte, typename State>
  static std::array<ArrayView<Byte>, kMaxArrays> ArraysOf(State& state);
  Digest DigestHere(ArrayDigests arrays) const;
  Digest Fingerprint(ArrayDigests arrays) const;
  // Returns true if the tensor belongs to one of these parameters, or to none.
  bool IsOf(size_t tensor, std::span<const std::string> names) const;
  Status CheckNotLost() const;
  Status Superfluous(std::span<const TensorView> tensors,
                     std::span<const std::string> of_parameters) const;
  void NameTensors(const Model& model, const Optimizer& rule, int replicas,
                   std::span<const HookState> hooks);
  void TakeInNameOrder(std::vector<TensorView> tensors,
                       std::span<const Place> places);
  Status ResizeHistory(std::span<const TensorView> tensors);
  Status CheckHistory() const;

  mutable std::vector<TensorView> tensors_;  // in name order
  std::vector<Place> places_;                // of each tensor
  Digest layout_;  // of the tensors' names, first shapes and places
  mutable StateDigester digester_;
  // Digests of the parameters and each slot, by the last fingerprint; none if
  // they changed since.
  mutable std::vector<Digest> array_digests_;
  DeviceMirror* device_mirror_ = nullptr;
  KnownStates* known_ = nullptr;
  SpareArrays* spare_ = nullptr;
  bool lost_ = false;
};

// Removes from a checkpoint's tensors those that are not the state's: tensors
// of hooks, which do not concern the model.
void DropHookState(const TrainState& state, std::vector<TensorView>& tensors);

// The TrainedValues of a model in that state.
std::vector<float> ValuesOf(const Model& model, const TrainState& state);

// Copies a model's TrainedValues to the parameters, and to the state that each
// replica keeps. REQUIRES: as many values.
void StartFromValues(const Model& model, std::span<const float> values,
                     TrainState& state);

// State that an evaluation uses if each replica keeps its own: the mean over
// replicas, in their order, laid out as the model's replica_state().
std::vector<float> CombinedReplicaState(const Model& model,
                                        const TrainState& state);
// The same for one tensor: the replicas' values, one after another, give `one`.
void CombineReplicas(std::span<const float> of_replicas, std::span<float> one);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_TRAIN_STATE_H_
