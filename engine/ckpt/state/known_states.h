// Cache of the digests of training states, by fingerprint.
//
// When the same job is trained repeatedly, and by several workers at once, the
// same states occur again. A state digest is computed tensor by tensor and
// block by block, as formats and readers need it (state_digest.h). A
// fingerprint is 128 bits that the owner of the state computes faster, from the
// same names, types, shapes and bytes in any order, or from digests of those
// bytes. Fingerprints may distinguish more states than digests do, such as
// those with different NaNs, and never fewer.
#ifndef GAUNTLET_ENGINE_CKPT_STATE_KNOWN_STATES_H_
#define GAUNTLET_ENGINE_CKPT_STATE_KNOWN_STATES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "engine/digest.h"

namespace gauntlet {

class KnownStates {
 public:
  // Drops all states when there would be more than `capacity`.
  explicit KnownStates(size_t capacity) : capacity_(capacity) {}

  // Returns nullopt if the state is unknown. REQUIRES, for both: states whose
  // names, types, shapes or bytes differ have different fingerprints.
  std::optional<Digest> Find(const Digest& fingerprint) const;
  void Put(const Digest& fingerprint, const Digest& digest);

  uint64_t found() const { return found_; }
  size_t size() const { return states_.size(); }

 private:
  size_t capacity_;
  mutable uint64_t found_ = 0;
  std::unordered_map<Digest, Digest, DigestHash> states_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_STATE_KNOWN_STATES_H_
