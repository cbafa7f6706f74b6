// The digest of float32 values in a training state.
#ifndef GAUNTLET_ENGINE_FLOAT_DIGEST_H_
#define GAUNTLET_ENGINE_FLOAT_DIGEST_H_

#include <cstddef>
#include <span>

#include "engine/digest.h"

namespace gauntlet {

// XXH3 digests inputs of up to this length, in bytes, by other functions than
// longer ones (xxHash's doc/xxhash_spec.md, "XXH3 Algorithm Details (for small
// inputs)" and "(for medium inputs)").
inline constexpr size_t kMaxShortDigestBytes = 240;

// Returns XXH3-128 of little-endian float32, in which any NaN counts as
// 0x7fc00000; -0 and +0 differ. `floats` need not be aligned.
Digest FloatDigestOf(std::span<const std::byte> floats);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_FLOAT_DIGEST_H_
