// Some tensors of a state as they stood at one moment, in a buffer of their
// own: what a save writes while training changes the state.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_COPY_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/tensor.h"

namespace gauntlet {

// One buffer, used again by each copy: it holds as many bytes as the largest
// one had.
class StateCopy {
 public:
  // Replaces the copy that was there, views and all.
  void Take(std::span<const TensorView> tensors);

  // Of the copy; valid until the next one.
  std::span<const TensorView> tensors() const { return tensors_; }
  uint64_t bytes() const { return bytes_; }
  // What the buffer takes up.
  uint64_t capacity() const { return buffer_.capacity(); }

 private:
  std::vector<std::byte> buffer_;
  std::vector<TensorView> tensors_;
  uint64_t bytes_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_COPY_H_
