// Copy of some tensors of a state at one moment: a save writes the copy while
// training changes the state.
//
// Values that are newest on a device are first copied within the device, then
// fetched while training continues. The first copy takes longer, as it
// allocates device memory. If the device has no free memory, training waits
// until the whole state has been fetched.
//
// Tensors in arrays that have spare arrays (TrainState::spare) are not copied:
// while a save reads such an array, updates write to the spare array.
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
#include "engine/train/state/resident_state.h"
#include "engine/train/state/spare_arrays.h"

namespace gauntlet {

// Reuses one host buffer and one device buffer, each as large as the largest
// copy so far. The size of a large host buffer is rounded up: the history of a
// state grows with each epoch, and each new buffer costs page faults.
class StateCopy {
 public:
  StateCopy() = default;
  ~StateCopy();
  StateCopy(const StateCopy&) = delete;
  StateCopy& operator=(const StateCopy&) = delete;

  // Allocates host memory for a copy of these tensors, so that the first Take
  // need not allocate it.
  void Reserve(const TrainState& state, std::span<const TensorView> tensors);
  // Replaces the previous copy, including its views, by a copy of these
  // tensors. Once this returns, the state may change. Arrays that have spare
  // arrays may then change only through TrainState::NextOf. Errors are those of
  // ResidentState::SyncToHost. REQUIRES: the previous copy has arrived; the
  // memory of the kernels outlives the copy.
  Status Take(ResidentState& resident, std::span<const TensorView> tensors);
  // Waits until the copy has arrived in host memory. Callable from any task.
  // kIoError: the fetch failed, and the copy is unusable.
  Status AwaitArrival();
  // Compares the digests of the copy with those taken on the device. Callable
  // from any task. kIoError names a tensor that differs.
  Status Check() const;

  // Views of the copied tensors. Call after AwaitArrival; valid until the next
  // copy.
  std::span<const TensorView> tensors() const { return tensors_; }
  // Number of bytes that were copied.
  uint64_t bytes() const { return bytes_; }
  // Size of the buffer, in bytes.
  uint64_t capacity() const { return buffer_.capacity(); }

 private:
  void GrowBuffer(Memory* pinned_for);
  Result<bool> CopyOnDevice(ResidentState& resident, Memory& memory);
  void CopyOnHost(const SpareArrays* spare);

  std::vector<std::byte> buffer_;
  std::optional<Pinned> pin_;  // of the buffer
  std::optional<MemoryArray<std::byte>> device_;
  Memory* fetching_ = nullptr;  // null: no fetch is in flight
  std::vector<TensorView> tensors_;
  // Digests of each tensor's blocks, computed on the device; empty for a tensor
  // that was not copied there.
  std::vector<BlockDigests> expected_;
  uint64_t bytes_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_STATE_COPY_H_
