#include "engine/ckpt/known_states.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gauntlet {
namespace {

bool IsSame(const Tensor& known, const TensorView& tensor) {
  return known.bytes.size() == tensor.bytes.size() &&
         known.dtype == tensor.dtype && known.name == tensor.name &&
         known.shape == tensor.shape &&
         (known.bytes.empty() ||
          std::memcmp(known.bytes.data(), tensor.bytes.data(),
                      known.bytes.size()) == 0);
}

size_t BytesOf(std::span<const TensorView> tensors) {
  size_t bytes = 0;
  for (const TensorView& tensor : tensors) {
    bytes += sizeof(Tensor) + tensor.bytes.size();
  }
  return bytes;
}

}  // namespace

std::optional<Digest> KnownStates::Find(
    const Moment& moment, std::span<const TensorView> tensors) const {
  const auto known = states_.find(moment);
  if (known == states_.end() ||
      !std::ranges::equal(known->second.tensors, tensors, IsSame)) {
    return std::nullopt;
  }
  ++found_;
  return known->second.digest;
}

void KnownStates::Put(const Moment& moment, std::span<const TensorView> tensors,
                      const Digest& digest) {
  State state = {.tensors = {}, .digest = digest, .bytes = BytesOf(tensors)};
  if (state.bytes > capacity_bytes_) return;
  if (const auto before = states_.find(moment); before != states_.end()) {
    bytes_ -= before->second.bytes;
    states_.erase(before);
  }
  if (bytes_ + state.bytes > capacity_bytes_) {
    states_.clear();
    bytes_ = 0;
  }
  for (const TensorView& tensor : tensors) {
    state.tensors.push_back(
        {.name = tensor.name,
         .dtype = tensor.dtype,
         .shape = tensor.shape,
         .bytes = {tensor.bytes.begin(), tensor.bytes.end()}});
  }
  bytes_ += state.bytes;
  states_.emplace(moment, std::move(state));
}

}  // namespace gauntlet
