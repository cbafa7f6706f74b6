// Part of engine/numerics.h: random numbers as a pure function of their
// position.
//
// Philox4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011, section 3.3.
//
// A word is computed from its position:
//
//   1. x = Philox(counter = {purpose, layer, step low, step high},
//                 key     = {rng_key low, rng_key high})
//   2. y = Philox(counter = {element / 4, row low, row high, x[2]},
//                 key     = {x[0], x[1]})
//   3. the word is y[element % 4].
//
// Step 1 is a bijection of (purpose, layer, step), so two streams of one
// rng_key coincide only if 96 of the 128 bits of their x are equal; within a
// stream no two (row, element) coincide.
#ifndef GAUNTLET_ENGINE_NUMERICS_NUMERICS_RANDOM_H_
#define GAUNTLET_ENGINE_NUMERICS_NUMERICS_RANDOM_H_

#include <cstddef>
#include <cstdint>

#include "engine/numerics/numerics_math.h"

namespace gauntlet::numerics {

// Four words: a Philox counter or output.
struct PhiloxBlock {
  uint32_t word[4];
};
struct PhiloxKey {
  uint32_t word[2];
};

inline constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53u;
inline constexpr uint32_t kPhiloxMultiplier1 = 0xCD9E8D57u;
inline constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9u;
inline constexpr uint32_t kPhiloxWeyl1 = 0xBB67AE85u;
inline constexpr int kPhiloxRounds = 10;

GAUNTLET_NUMERIC PhiloxBlock Philox(PhiloxBlock c, PhiloxKey k) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t p0 = uint64_t{kPhiloxMultiplier0} * c.word[0];
    const uint64_t p1 = uint64_t{kPhiloxMultiplier1} * c.word[2];
    c = {{static_cast<uint32_t>(p1 >> 32) ^ c.word[1] ^ k.word[0],
          static_cast<uint32_t>(p1),
          static_cast<uint32_t>(p0 >> 32) ^ c.word[3] ^ k.word[1],
          static_cast<uint32_t>(p0)}};
    k.word[0] += kPhiloxWeyl0;
    k.word[1] += kPhiloxWeyl1;
  }
  return c;
}

// Use of a random number. Values are part of the contract: never reuse one.
enum class Purpose : uint32_t {
  kInit = 1,     // layer, row 0, element: initial parameters
  kDropout = 2,  // layer, step, row in the global batch, column
  kShuffle = 3,  // step = epoch: round keys of the epoch's permutation
  kDigits = 4,   // row = sample: the synthetic digits
};

// Steps 1 and 2 above as separate functions, so that a loop does step 1 once.
struct RandomStream {
  PhiloxKey key;
  uint32_t tag;
};
GAUNTLET_NUMERIC RandomStream MakeStream(uint64_t rng_key, Purpose purpose,
                                         uint32_t layer, uint64_t step) {
  const PhiloxBlock x = Philox(
      {{static_cast<uint32_t>(purpose), layer, static_cast<uint32_t>(step),
        static_cast<uint32_t>(step >> 32)}},
      {{static_cast<uint32_t>(rng_key), static_cast<uint32_t>(rng_key >> 32)}});
  return {{{x.word[0], x.word[1]}}, x.word[2]};
}
GAUNTLET_NUMERIC PhiloxBlock StreamBlock(const RandomStream& stream,
                                         uint64_t row, uint32_t block) {
  return Philox({{block, static_cast<uint32_t>(row),
                  static_cast<uint32_t>(row >> 32), stream.tag}},
                stream.key);
}
GAUNTLET_NUMERIC uint32_t StreamWord(const RandomStream& stream, uint64_t row,
                                     uint32_t element) {
  return StreamBlock(stream, row, element / 4).word[element % 4];
}

// Returns a number uniform in [0, 1): the upper 24 bits, times 2^-24. Exact.
GAUNTLET_NUMERIC float UniformFloat(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word >> 8)) * 0x1p-24f;
}

// Uniform in [-limit, limit]: 2u - 1 is exact, the product rounds once.
GAUNTLET_NUMERIC float UniformSymmetric(uint32_t word, float limit) {
  return (2.0f * UniformFloat(word) - 1.0f) * limit;
}

// Limit of a kernel's initial values: Glorot & Bengio 2010, equation 16.
GAUNTLET_NUMERIC float GlorotLimit(uint32_t fan_in, uint32_t fan_out) {
  const uint64_t fans = uint64_t{fan_in} + fan_out;
  return Sqrt(6.0f / static_cast<float>(fans));
}

// Returns true iff an element with this word is kept. The share `rate` is
// dropped.
GAUNTLET_NUMERIC bool WordKeeps(uint32_t word, float rate) {
  return UniformFloat(word) >= rate;
}

// Position of an element; `row` counts in the global batch of the step.
struct DropoutPlace {
  uint64_t step = 0;
  uint32_t layer = 0;
  uint64_t row = 0;
  uint32_t column = 0;
};
GAUNTLET_NUMERIC bool DropoutKeeps(uint64_t rng_key, const DropoutPlace& place,
                                   float rate) {
  const RandomStream stream =
      MakeStream(rng_key, Purpose::kDropout, place.layer, place.step);
  return WordKeeps(StreamWord(stream, place.row, place.column), rate);
}

// MurmurHash3's 32-bit finalizer (A. Appleby, public domain).
GAUNTLET_NUMERIC uint32_t MixBits(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
  x = (x ^ (x >> 13)) * 0xC2B2AE35u;
  return x ^ (x >> 16);
}

// A keyed permutation of [0, rows): a balanced Feistel network over 2h bits. h
// is the smallest number >= 1 for which 2h bits can hold rows - 1. The network
// is repeated until its result is below rows (cycle walking: J. Black, P.
// Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
//
// `left` is the upper half of the bits, `right` the lower half. Round i of 12:
// (left, right) <- (right, left ^ MixBits(right ^ key_i)), truncated to h bits.
// key_i is word i of row 0 of the stream (rng_key, kShuffle, 0, epoch).
inline constexpr int kPermutationRounds = 12;
struct Permutation {
  uint32_t rows;
  uint32_t half_bits;
  uint32_t round_key[kPermutationRounds];
};
GAUNTLET_NUMERIC Permutation MakePermutation(uint64_t rng_key, uint64_t epoch,
                                             uint32_t rows) {
  Permutation permutation = {rows, 1, {}};
  while ((uint64_t{rows} + (rows == 0) - 1) >> (2 * permutation.half_bits)) {
    ++permutation.half_bits;
  }
  const RandomStream stream = MakeStream(rng_key, Purpose::kShuffle, 0, epoch);
  for (uint32_t block = 0; block < kPermutationRounds / 4; ++block) {
    const PhiloxBlock keys = StreamBlock(stream, 0, block);
    for (uint32_t i = 0; i < 4; ++i) {
      permutation.round_key[4 * block + i] = keys.word[i];
    }
  }
  return permutation;
}
// REQUIRES: index < permutation.rows.
GAUNTLET_NUMERIC uint32_t PermuteIndex(const Permutation& permutation,
                                       uint32_t index) {
  const uint32_t mask = (1u << permutation.half_bits) - 1;
  uint32_t x = index;
  do {
    uint32_t left = x >> permutation.half_bits;
    uint32_t right = x & mask;
    for (int i = 0; i < kPermutationRounds; ++i) {
      const uint32_t mixed = MixBits(right ^ permutation.round_key[i]);
      const uint32_t next = (left ^ mixed) & mask;
      left = right;
      right = next;
    }
    x = (left << permutation.half_bits) | right;
  } while (x >= permutation.rows);
  return x;
}
// REQUIRES: index < rows.
GAUNTLET_NUMERIC uint32_t PermuteIndex(uint64_t rng_key, uint64_t epoch,
                                       uint32_t rows, uint32_t index) {
  return PermuteIndex(MakePermutation(rng_key, epoch, rows), index);
}

}  // namespace gauntlet::numerics

#endif  // GAUNTLET_ENGINE_NUMERICS_NUMERICS_RANDOM_H_
