// Some tensors of a state as they were at one moment, in a buffer of their own:
// a save writes them while training changes the state.
//
// Values that are newest on a device are copied there, and the copy is fetched
// during training; the first one makes room, which takes longer. If the device
// has no spare room, training waits until all of the state has been brought
// here.
//
// Tensors in arrays that have spare ones (TrainState::spare) are not copied:
// updates leave them where they are.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_STATE_COPY_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_STATE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/ckpt/state/state_digest.h"
#include "engine/math/memory.h"
#include "engine/status.h"
#include "engine/tensor.h"
#include "engine/train/state/train_state.h"

namespace gauntlet {

// One buffer, and one on the device, used again by each copy: they hold as many
// bytes as the largest one had.
class StateCopy {
 public:
  StateCopy() = default;
  ~StateCopy();
  StateCopy(const StateCopy&) = delete;
  StateCopy& operator=(const StateCopy&) = delete;

  // Replaces the copy that was there, views and all, by one of these tensors of
  // the state. The state may change once this returns, and its large arrays by
  // TrainState::NextOf alone if they have spare ones. An error is the device
  // mirror's: what it knew best is lost. REQUIRES: the copy that was there has
  // arrived; the device mirror's memory outlives this.
  Status Take(const TrainState& state, std::span<const TensorView> tensors);
  // Waits for the copy to arrive; from any task. kIoError: it does not arrive,
  // and is unusable.
  Status Arrive();
  // Compares what has arrived with what was copied, by digests that were taken
  // there; from any task. kIoError names a tensor that is not the same.
  Status Check() const;

  // Once all has arrived; valid until the next copy.
  std::span<const TensorView> tensors() const { return tensors_; }
  // Number of bytes that were copied.
  uint64_t bytes() const { return bytes_; }
  // Size of the buffer, in bytes.
  uint64_t capacity() const { return buffer_.capacity(); }

 private:
  void MakeRoom(Memory* pinned_for);
  Result<bool> TakeThere(TrainState::DeviceMirror& device_mirror);
  void TakeHere(const SpareArrays* spare);

  std::vector<std::byte> buffer_;
  std::optional<Pinned> pin_;  // of the buffer
  std::optional<MemoryArray<std::byte>> device_;
  Memory* fetching_ = nullptr;  // null: nothing is on its way
  std::vector<TensorView> tensors_;
  std::vector<BlockDigests> expected_;  // of each tensor copied there
  uint64_t bytes_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_STATE_COPY_H_
