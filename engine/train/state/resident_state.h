// The large arrays of a TrainState, at the place where training works on them.
// If the kernels work in host memory, this place is the state itself. Otherwise
// it is an allocation in the memory of the device, which is kept from step to
// step.
//
// Training accesses the arrays through this class, which uploads values that
// were changed in the state. Before other code reads the state (a save, a
// probe, a hook), SyncToHost downloads the values that training changed. A
// digest, and the copy of an asynchronous save, are made where the newest
// values are.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_RESIDENT_STATE_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_RESIDENT_STATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ckpt/state/state_digest.h"
#include "engine/digest.h"
#include "engine/math/kernels.h"
#include "engine/math/memory.h"
#include "engine/status.h"
#include "engine/tensor.h"
#include "engine/train/state/train_state.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

class ResidentState {
 public:
  // All arguments outlive it. The state must not move, and its arrays must keep
  // their sizes. The device is not used before training first accesses an
  // array.
  ResidentState(TrainState& state, const Kernels& kernels,
                const FaultPoints& faults);
  ResidentState(const ResidentState&) = delete;
  ResidentState& operator=(const ResidentState&) = delete;

  // The state in host memory. Its large arrays are outdated from MarkChanged to
  // the next SyncToHost; its other values are always the newest.
  TrainState& host() const { return host_; }
  // Copies the newest values to the host. If the device fails, they are lost,
  // and all later calls return the same error until the state is replaced.
  // kFailedPrecondition: the state was not restored completely.
  Status SyncToHost();
  // As SyncToHost, for a caller that is about to change the large arrays on the
  // host: the next access of training uploads them.
  Status SyncForHostUpdate();
  // Ok until the device loses the newest values; from then on, the error of the
  // device.
  const Status& device_status() const { return device_status_; }
  // Computes the digest where the newest values are. Errors are those of
  // SyncToHost.
  Result<Digest> NewestDigest();

  // The functions for training return arrays in the kernels' memory. REQUIRES:
  // device_status() is Ok.
  std::span<float> parameters() { return Newest().front(); }
  // Return the places where an update reads and writes, as TrainState::NextOf
  // does. Views that parameters() returned before may then show the values
  // before the update.
  UpdatedArray NextParameters() { return NextArray(0); }
  std::span<const UpdatedArray> NextSlots();
  UpdatedArray NextAccumulated() { return NextArray(device_.size() - 1); }
  // Call right before or after changing values in the kernels' memory.
  // REQUIRES: parameters() was called since the last SyncForHostUpdate.
  void MarkChanged();

  // The functions below serve to copy or digest values on the device.

  // Returns the memory of the arrays on the device; null: there are none.
  Memory* device_memory() const {
    return on_host() || place_ == Place::kHostOnly ? nullptr : &memory_;
  }
  // Returns the place of the tensor's newest values in device_memory(); empty
  // if the newest values are on the host.
  std::span<const std::byte> NewestOf(const TensorView& tensor) const;
  // Returns the digests of the blocks of each tensor, computed on the device;
  // an empty list for a tensor whose newest values are on the host. Errors are
  // those of SyncToHost.
  Result<std::vector<BlockDigests>> DigestsOf(
      std::span<const TensorView> tensors);

 private:
  // Place of the newest values:
  //
  //   from             | to      | by
  //   -----------------|---------|---------------------------------
  //   kHostOnly        | kHost   | Newest, which allocates
  //   kHost            | kBoth   | Newest, which uploads them
  //   kBoth, kDevice   | kDevice | MarkChanged
  //   kDevice          | kBoth   | SyncToHost, which downloads them
  //   kBoth            | kHost   | SyncForHostUpdate
  //   kDevice          | kLost   | SyncToHost, DigestsOf: the device has failed
  //
  // If the kernels work in host memory, they use the state's own arrays, and
  // the place is always kHostOnly.
  enum class Place : uint8_t { kHostOnly, kHost, kBoth, kDevice, kLost };
  // CHECKs that the transition is in the table.
  void MoveTo(Place place);

  // `blocks`: the part of a tensor that is digested on the device. `rest`: a
  // short last block, which the host digests; may be empty.
  struct DigestParts {
    std::span<const float> blocks;
    std::span<const float> rest;
  };

  // Results for all tensors of a DigestsOf.
  struct DeviceDigests {
    std::vector<uint64_t> halves;  // of the blocks' digests, low half first
    std::vector<float> rests;      // DigestParts::rest of all tensors
  };

  void Allocate();
  // Returns the place on the device for these bytes of the state; empty if they
  // have none.
  std::span<const float> OnDevice(std::span<const std::byte> host_bytes) const;
  DigestParts Split(const TensorView& tensor) const;
  Result<DeviceDigests> ComputeOnDevice(std::span<const DigestParts> tensors);
  // Returns an error if the device failed. In that case, the values just
  // downloaded may be wrong, and the newest values are lost.
  Status CheckDevice();
  std::span<const std::span<float>> Newest();
  UpdatedArray NextArray(size_t index);
  bool on_host() const { return memory_.kind() == MemoryKind::kHost; }

  TrainState& host_;
  const Kernels& kernels_;
  const FaultPoints& faults_;
  Memory& memory_;
  // Parameters, slots and accumulated gradients, in the same order in both
  // vectors.
  std::vector<std::span<float>> arrays_;  // of the host
  std::vector<std::span<float>> device_;
  std::vector<UpdatedArray> next_slots_;
  std::vector<Pinned> pins_;  // of arrays_
  MemoryArray<float> arena_;
  // Results of DigestsOf, in the order of the tensors.
  MemoryArray<uint64_t> digests_;
  MemoryArray<float> rests_;
  Place place_ = Place::kHostOnly;
  Status device_status_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_RESIDENT_STATE_H_
