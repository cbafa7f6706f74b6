#include "engine/train/state_copy.h"

#include <algorithm>

namespace gauntlet {

void StateCopy::Take(std::span<const TensorView> tensors) {
  tensors_.assign(tensors.begin(), tensors.end());
  bytes_ = 0;
  for (const TensorView& tensor : tensors_) bytes_ += tensor.bytes.size();
  if (bytes_ > buffer_.size()) {
    // Exactly: growing by halves would hold more than the largest copy.
    buffer_ = {};
    buffer_.resize(bytes_);
  }
  size_t at = 0;
  for (TensorView& tensor : tensors_) {
    const std::span<std::byte> place =
        std::span(buffer_).subspan(at, tensor.bytes.size());
    std::ranges::copy(tensor.bytes, place.begin());
    tensor.bytes = place;
    at += place.size();
  }
}

}  // namespace gauntlet
