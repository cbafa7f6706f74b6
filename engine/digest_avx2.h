// XXH3 with AVX2, for digest.cc.
#ifndef GAUNTLET_ENGINE_DIGEST_AVX2_H_
#define GAUNTLET_ENGINE_DIGEST_AVX2_H_

// Includes no C++ headers: the linker could choose their inline functions,
// compiled with AVX2 here, for the whole program.
#include <stddef.h>
#include <stdint.h>

namespace gauntlet {

// Compute XXH3-128 and XXH3-64 of `size` bytes, seed 0. REQUIRES: the machine
// has AVX2.
void Avx2Digest(const void* bytes, size_t size, uint64_t& high, uint64_t& low);
uint64_t Avx2ShortDigest(const void* bytes, size_t size);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DIGEST_AVX2_H_
