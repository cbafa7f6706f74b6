// Digests of a tensor's blocks (engine/ckpt/state/state_digest.h), computed on
// the device: XXH3-128, seed 0, of blocks of more than 240 bytes.
//
// XXH3: Y. Collet, github.com/Cyan4973/xxHash, doc/xxhash_spec.md, "XXH3
// Algorithm Details (for larger inputs)". XXH3 adds up the 16 stripes of each
// 1024 bytes as integers, so the order of additions does not matter: each
// thread computes one lane of one stripe.
#ifndef GAUNTLET_ENGINE_GPU_DIGEST_KERNEL_H_
#define GAUNTLET_ENGINE_GPU_DIGEST_KERNEL_H_

#include "engine/gpu/launch.h"

namespace gauntlet::gpu {

inline constexpr size_t kDigestSecretBytes = 192;
struct DigestSecret {
  uint64_t words[kDigestSecretBytes / 8];
};
// XXH3's default secret.
inline constexpr DigestSecret kDigestSecret = {{
    0xbe4ba423396cfeb8u, 0x1cad21f72c81017cu, 0xdb979083e96dd4deu,
    0x1f67b3b7a4a44072u, 0x78e5c0cc4ee679cbu, 0x2172ffcc7dd05a82u,
    0x8e2443f7744608b8u, 0x4c263a81e69035e0u, 0xcb00c391bb52283cu,
    0xa32e531b8b65d088u, 0x4ef90da297486471u, 0xd8acdea946ef1938u,
    0x3f349ce33f76faa8u, 0x1d4f0bc7c7bbdcf9u, 0x3159b4cd4be0518au,
    0x647378d9c97e9fc8u, 0xc3ebd33483acc5eau, 0xeb6313faffa081c5u,
    0x49daf0b751dd0d17u, 0x9e68d429265516d3u, 0xfca1477d58be162bu,
    0xce31d07ad1b8f88fu, 0x280416958f3acb45u, 0x7e404bbbcafbd7afu,
}};

// Blocks of a tensor, and the destination of their digests.
struct DigestBlocks {
  const uint32_t* words = nullptr;  // the tensor
  size_t bytes = 0;                 // a multiple of 4
  size_t block_bytes = 0;           // a multiple of 1024
  bool canonical_nans = false;      // float32: any NaN counts as 0x7fc00000
  uint64_t* digests = nullptr;      // low half, high half of each block
};

struct DigestKernel {
  static constexpr unsigned kThreads = 128;
  static constexpr unsigned kBlocksAtOnce = 4;
  static constexpr unsigned kLanes = 8;
  static constexpr unsigned kStripes = kThreads / kLanes;
  static constexpr size_t kRoundBytes = 1024;  // bytes from one Scramble to the
                                               // next
  static constexpr size_t kStripeBytes = 64;
  static constexpr size_t kWordBytes = sizeof(uint64_t);  // a lane of a stripe
  static constexpr size_t kSharedBytes = (2 * kThreads + kLanes) * kWordBytes;
  static constexpr uint64_t kSmallPrime1 = 0x9E3779B1u;  // of 32 bits
  static constexpr uint64_t kSmallPrime2 = 0x85EBCA77u;
  static constexpr uint64_t kSmallPrime3 = 0xC2B2AE3Du;
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u;
  static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
  static constexpr uint64_t kPrime3 = 0x165667B19E3779F9u;
  static constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
  static constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5u;

  DigestBlocks blocks;
  DigestSecret secret;

  GAUNTLET_KERNEL void operator()(const Block& block) const {
    const size_t begin = block.x * blocks.block_bytes;
    const size_t left = blocks.bytes - begin;
    const size_t size = left < blocks.block_bytes ? left : blocks.block_bytes;
    uint64_t* const own = static_cast<uint64_t*>(block.shared);
    uint64_t* const other = own + kThreads;
    uint64_t* const acc = other + kThreads;
    block.Phase([&](unsigned t) {
      if (t < kLanes) acc[t] = Start(t);
    });
    const size_t rounds = (size - 1) / kRoundBytes;
    const size_t last_stripes =
        (size - 1 - rounds * kRoundBytes) / kStripeBytes;
    for (size_t round = 0; round <= rounds; ++round) {
      const size_t stripes = round < rounds ? kStripes : last_stripes;
      block.Phase([&](unsigned t) {
        const unsigned stripe = t / kLanes;
        const unsigned lane = t % kLanes;
        if (stripe >= stripes) return;
        Take(begin + round * kRoundBytes + stripe * kStripeBytes +
                 lane * kWordBytes,
             SecretAt((stripe + lane) * kWordBytes), own[t], other[t]);
      });
      block.Phase([&](unsigned t) {
        if (t >= kLanes) return;
        uint64_t sum = acc[t];
        for (unsigned stripe = 0; stripe < stripes; ++stripe) {
          sum += own[stripe * kLanes + t] + other[stripe * kLanes + (t ^ 1)];
        }
        acc[t] = round < rounds ? Scramble(sum, t) : sum;
      });
    }
    block.Phase([&](unsigned t) {
      if (t >= kLanes) return;
      Take(begin + size - kStripeBytes + t * kWordBytes,
           SecretAt(kDigestSecretBytes - kStripeBytes - 7 + t * kWordBytes),
           own[t], other[t]);
    });
    block.Phase([&](unsigned t) {
      if (t < kLanes) acc[t] += own[t] + other[t ^ 1];
    });
    block.Phase([&](unsigned t) {
      if (t != 0) return;
      uint64_t* const digest = blocks.digests + 2 * block.x;
      digest[0] = Merge(acc, 11, size * kPrime1);
      digest[1] =
          Merge(acc, kDigestSecretBytes - kStripeBytes - 11, ~(size * kPrime2));
    });
  }

 private:
  GAUNTLET_KERNEL static uint64_t Start(unsigned lane) {
    switch (lane) {
      case 0:
        return kSmallPrime3;
      case 1:
        return kPrime1;
      case 2:
        return kPrime2;
      case 3:
        return kPrime3;
      case 4:
        return kPrime4;
      case 5:
        return kSmallPrime2;
      case 6:
        return kPrime5;
      default:
        return kSmallPrime1;
    }
  }

  // Returns the eight bytes of the secret that begin at `byte`.
  GAUNTLET_KERNEL uint64_t SecretAt(size_t byte) const {
    const uint64_t low = secret.words[byte / 8];
    const unsigned shift = static_cast<unsigned>(byte % 8) * 8;
    if (shift == 0) return low;
    return low >> shift | secret.words[byte / 8 + 1] << (64 - shift);
  }

  GAUNTLET_KERNEL uint64_t WordAt(size_t byte) const {
    const uint32_t word = blocks.words[byte / 4];
    const bool nan = (word & 0x7fffffffu) > 0x7f800000u;
    return blocks.canonical_nans && nan ? 0x7fc00000u : word;
  }

  // Computes what eight bytes contribute to two sums: `own` is added to the sum
  // of their lane, `other` to the sum of the neighbouring lane.
  GAUNTLET_KERNEL void Take(size_t byte, uint64_t key, uint64_t& own,
                            uint64_t& other) const {
    const uint64_t value = WordAt(byte) | WordAt(byte + 4) << 32;
    const uint64_t mixed = value ^ key;
    own = (mixed & 0xffffffffu) * (mixed >> 32);
    other = value;
  }

  GAUNTLET_KERNEL uint64_t Scramble(uint64_t acc, unsigned lane) const {
    const uint64_t key =
        SecretAt(kDigestSecretBytes - kStripeBytes + lane * kWordBytes);
    return ((acc ^ acc >> 47) ^ key) * kSmallPrime1;
  }

  // Returns the XOR of the two 64-bit halves of the product.
  GAUNTLET_KERNEL static uint64_t Folded(uint64_t a, uint64_t b) {
#ifdef __CUDACC__
    return a * b ^ __umul64hi(a, b);
#else
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^
           static_cast<uint64_t>(product >> 64);
#endif
  }

  GAUNTLET_KERNEL uint64_t Merge(const uint64_t* acc, size_t secret_at,
                                 uint64_t start) const {
    uint64_t result = start;
    for (size_t i = 0; i < 4; ++i) {
      result += Folded(acc[2 * i] ^ SecretAt(secret_at + 16 * i),
                       acc[2 * i + 1] ^ SecretAt(secret_at + 16 * i + 8));
    }
    result ^= result >> 37;
    result *= 0x165667919E3779F9u;
    return result ^ result >> 32;
  }
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_DIGEST_KERNEL_H_
