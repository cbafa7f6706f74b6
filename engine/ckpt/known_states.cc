#include "engine/ckpt/known_states.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gauntlet {
namespace {

bool AreSame(std::span<const Tensor> known,
             std::span<const TensorView> tensors) {
  return std::ranges::equal(known, tensors, [](const auto& a, const auto& b) {
    return a.bytes.size() == b.bytes.size() && a.dtype == b.dtype &&
           a.name == b.name && a.shape == b.shape &&
           (a.bytes.empty() ||
            std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0);
  });
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
  if (known == states_.end() || !AreSame(known->second.tensors, tensors)) {
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
