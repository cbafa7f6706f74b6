// The large arrays of a TrainState at the place where training works on them:
// in the state itself, or, if the kernels have memory of their own, in one
// allocation there that lasts from step to step.
//
// The newest values are in one of the two places. Training accesses the arrays
// through this class, which uploads values that were changed in the state. A
// reader of the state (a save, a probe) makes this class download the values
// that training changed. A digest, and the copy of an asynchronous save, are
// made where the newest values are.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_RESIDENT_STATE_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_RESIDENT_STATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/check.h"
#include "engine/math/kernels.h"
#include "engine/math/memory.h"
#include "engine/train/state/device_mirror.h"
#include "engine/train/state/train_state.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

class ResidentState final : public DeviceMirror {
 public:
  // All arguments outlive it. The state must neither move nor change its sizes.
  ResidentState(TrainState& state, const Kernels& kernels,
                const FaultPoints& faults);
  // Newer values on the device that were not brought back are lost: the state
  // must not be read any more.
  ~ResidentState();
  ResidentState(const ResidentState&) = delete;
  ResidentState& operator=(const ResidentState&) = delete;

  bool IsOf(const TrainState& state) const { return &state == &state_; }

  // The functions below return arrays in the kernels' memory.
  std::span<float> parameters() { return Newest().front(); }
  // Return where an update reads and writes, as TrainState::NextOf does. Arrays
  // returned earlier then have the previous values.
  UpdatedArray NextParameters() { return Next(0); }
  std::span<const UpdatedArray> NextSlots();
  UpdatedArray NextAccumulated() { return Next(device_.size() - 1); }
  // Call when values in the kernels' memory were changed, or before they will
  // be. REQUIRES: parameters() was called since the state last changed.
  void Changed() {
    CHECK(newest_ != NewestPlace::kState, "the device's values are outdated");
    newest_ = NewestPlace::kDevice;
  }

  Status BringBack() override;
  Status StateChanges() override;
  Result<std::vector<BlockDigests>> DigestsOf(
      std::span<const TensorView> tensors) override;
  Memory& memory() const override { return memory_; }
  std::span<const std::byte> NewestOf(const TensorView& tensor) const override;

 private:
  // Place of the newest values:
  //
  //   from    | to      | by
  //   --------|---------|---------------------------------
  //   kState  | kBoth   | Newest, which uploads them
  //   kBoth   | kDevice | Changed
  //   kDevice | kBoth   | BringBack, which downloads them
  //   each    | kState  | StateChanges
  enum class NewestPlace : uint8_t { kState, kBoth, kDevice };

  // A tensor's blocks that are digested on the device, and a short last block
  // that the host digests.
  struct Digested {
    std::span<const float> blocks;
    std::span<const float> rest;
  };

  // Results for all tensors of a DigestsOf.
  struct Taken {
    std::vector<uint64_t> halves;  // of the blocks' digests
    std::vector<float> rests;
  };

  // Returns the place on the device of this part of the state; empty if it has
  // none.
  std::span<const float> There(std::span<const std::byte> here) const;
  Digested Split(const TensorView& tensor) const;
  Result<Taken> Take(std::span<const Digested> tensors);
  // Returns an error if the device failed: the values just downloaded may then
  // be wrong.
  Status Check() const;
  std::span<const std::span<float>> Newest();
  UpdatedArray Next(size_t index);
  bool on_host() const { return memory_.kind() == MemoryKind::kHost; }

  TrainState& state_;
  const Kernels& kernels_;
  const FaultPoints& faults_;
  Memory& memory_;
  // Parameters, slots, accumulated gradients, in the same order in both.
  std::vector<std::span<float>> host_;
  std::vector<std::span<float>> device_;
  std::vector<UpdatedArray> next_slots_;
  std::vector<Pinned> pins_;  // of host_
  MemoryArray<float> arena_;
  // Results of DigestsOf, in the order of the tensors.
  MemoryArray<uint64_t> digests_;
  MemoryArray<float> rests_;
  NewestPlace newest_ = NewestPlace::kState;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_RESIDENT_STATE_H_
