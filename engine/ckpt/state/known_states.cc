#include "engine/ckpt/state/known_states.h"

namespace gauntlet {

std::optional<Digest> KnownStates::Find(const Digest& fingerprint) const {
  const auto known = states_.find(fingerprint);
  if (known == states_.end()) return std::nullopt;
  ++found_;
  return known->second;
}

void KnownStates::Put(const Digest& fingerprint, const Digest& digest) {
  if (capacity_ == 0) return;
  if (states_.size() >= capacity_ && !states_.contains(fingerprint)) {
    states_.clear();
  }
  states_[fingerprint] = digest;
}

}  // namespace gauntlet
