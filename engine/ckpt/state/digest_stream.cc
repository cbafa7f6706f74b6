#include "engine/ckpt/state/digest_stream.h"

#include "engine/out_of_memory.h"
#include <xxhash.h>
#if defined(__x86_64__)
// Selects the widest vector instructions of the CPU; the digest is the same.
#include <xxh_x86dispatch.h>
#endif

namespace gauntlet {

void DigestStream::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

DigestStream::DigestStream() : state_(XXH3_createState()) {
  if (state_ == nullptr) OutOfMemory();
  XXH3_128bits_reset(state_.get());
}

void DigestStream::Update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

Digest DigestStream::Finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  return {.high = hash.high64, .low = hash.low64};
}

}  // namespace gauntlet
