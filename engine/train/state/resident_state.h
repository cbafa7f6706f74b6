// The large arrays of a TrainState where training works on them: in the state
// itself, or, if operations have memory of their own, in one piece of that
// memory, where they stay from step to step.
//
// The newest values are in one of the two places. Training asks here, and
// brings over the values that were changed in the state; a reader of the state
// (a save, a probe) makes it bring back those that training changed. A digest
// is computed where the newest values are, and so is the copy of an
// asynchronous save.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_RESIDENT_STATE_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_RESIDENT_STATE_H_

#include <optional>
#include <span>
#include <vector>

#include "engine/digest.h"
#include "engine/math/kernels.h"
#include "engine/math/memory.h"
#include "engine/train/state/train_state.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

class ResidentState final : public TrainState::DeviceMirror {
 public:
  // All outlive it, and the state neither moves nor changes its sizes.
  ResidentState(TrainState& state, const Kernels& kernels,
                const FaultPoints& faults);
  // Newer values there that were not brought back are lost: the state must not
  // be read any more.
  ~ResidentState();
  ResidentState(const ResidentState&) = delete;
  ResidentState& operator=(const ResidentState&) = delete;

  bool IsOf(const TrainState& state) const { return &state == &state_; }

  // In the kernels' memory, as are all below.
  std::span<float> parameters() { return Newest().front(); }
  // The same arrays, as an update changes them: TrainState::NextOf. Results of
  // the functions above then have the previous values.
  UpdatedArray NextParameters() { return Next(0); }
  std::span<const UpdatedArray> NextSlots();
  UpdatedArray NextAccumulated() { return Next(device_.size() - 1); }
  // Called when values there were changed, or will be before they are read.
  void Changed() {
    newest_there_ = true;
    state_.ArraysChanged();
  }
  // Digest of the parameters' bytes there, if it is known.
  std::optional<Digest> parameters_digest() const {
    return on_host() ? state_.ParametersDigest() : std::nullopt;
  }

  Status BringBack() override;
  Status StateChanges() override;
  Result<std::vector<BlockDigests>> DigestsOf(
      std::span<const TensorView> tensors) override;
  Memory& memory() const override { return memory_; }
  std::span<const std::byte> NewestOf(const TensorView& tensor) const override;

 private:
  // The part of a tensor that is digested in place, and the rest that is too
  // short.
  struct Digested {
    std::span<const float> blocks;
    std::span<const float> rest;
  };

  // Results of all tensors.
  struct Taken {
    std::vector<uint64_t> halves;  // of the blocks' digests
    std::vector<float> rests;
  };

  // Returns the place there of this part of the state; empty: it has none.
  std::span<const float> There(std::span<const std::byte> here) const;
  Digested Split(const TensorView& tensor) const;
  Result<Taken> Take(std::span<const Digested> tensors);
  // Checks that the values just brought are those that were there.
  Status Check() const;
  std::span<const std::span<float>> Newest();
  UpdatedArray Next(size_t index);
  bool on_host() const { return memory_.kind() == MemoryKind::kHost; }

  TrainState& state_;
  const Kernels& kernels_;
  const FaultPoints& faults_;
  Memory& memory_;
  // Parameters, slots, accumulated gradients; the same arrays in both.
  std::vector<std::span<float>> host_;
  std::vector<std::span<float>> device_;
  std::vector<UpdatedArray> next_slots_;
  std::vector<Pinned> pins_;  // of host_
  MemoryArray<float> arena_;
  // Results of DigestsOf, in the order of the tensors.
  MemoryArray<uint64_t> digests_;
  MemoryArray<float> rests_;
  bool newest_here_ = true;
  bool newest_there_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_RESIDENT_STATE_H_
