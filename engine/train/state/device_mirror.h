// Values of a TrainState on a device, as the state and its readers access them.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_DEVICE_MIRROR_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_DEVICE_MIRROR_H_

#include <cstddef>
#include <span>
#include <vector>

#include "engine/ckpt/state/state_digest.h"
#include "engine/math/memory.h"
#include "engine/status.h"
#include "engine/tensor.h"

namespace gauntlet {

// Holds values of parameters, slots and accumulated gradients that may be newer
// than those in the state.
class DeviceMirror {
 public:
  virtual ~DeviceMirror() = default;
  // Copies the newer values into the state. After an error they are lost.
  virtual Status BringBack() = 0;
  // As BringBack, for a caller that is about to change the state: from then on
  // the values in the state are the newest.
  virtual Status StateChanges() = 0;
  // Returns the digests of the blocks of each tensor, computed where its newest
  // values are; an empty list for a tensor whose newest values are in the
  // state. After an error the newer values are lost.
  virtual Result<std::vector<BlockDigests>> DigestsOf(
      std::span<const TensorView> tensors) = 0;
  virtual Memory& memory() const = 0;
  // Returns the place of the tensor's newest values in that memory; empty if
  // they are in the state.
  virtual std::span<const std::byte> NewestOf(
      const TensorView& tensor) const = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_DEVICE_MIRROR_H_
