#include "engine/digest_avx2.h"

// Includes the library's source as inline functions of this file.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gauntlet {

void Avx2Digest(const void* bytes, size_t size, uint64_t& high, uint64_t& low) {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  high = hash.high64;
  low = hash.low64;
}

uint64_t Avx2ShortDigest(const void* bytes, size_t size) {
  return XXH3_64bits(bytes, size);
}

}  // namespace gauntlet
