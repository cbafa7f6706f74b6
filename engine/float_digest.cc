#include "engine/float_digest.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gauntlet {
namespace {

static_assert(std::endian::native == std::endian::little,
              "floats and digests are little-endian");

constexpr uint32_t kCanonicalNan = 0x7fc00000;
constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kMagnitude = 0x7fffffff;

uint32_t WordAt(std::span<const std::byte> bytes, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

bool IsNan(uint32_t bits) { return (bits & kMagnitude) > kInfinity; }

// Result of a scan with vector instructions: the number of bytes that it
// covered, from the front, and whether they contain a NaN.
struct Scanned {
  size_t size = 0;
  bool nan = false;
};

#if defined(__x86_64__)
// Scans 128 bytes a round. A comparison of two vectors finds the NaNs of both.
__attribute__((target("avx2"))) Scanned ScanAvx2(
    std::span<const std::byte> bytes) {
  const auto* const floats = reinterpret_cast<const float*>(bytes.data());
  const size_t rounds = bytes.size() / 128;
  __m256 found = _mm256_setzero_ps();
  for (size_t i = 0; i < rounds; ++i) {
    const float* const at = floats + i * 32;
    const __m256 low = _mm256_cmp_ps(_mm256_loadu_ps(at),
                                     _mm256_loadu_ps(at + 8), _CMP_UNORD_Q);
    const __m256 high = _mm256_cmp_ps(_mm256_loadu_ps(at + 16),
                                      _mm256_loadu_ps(at + 24), _CMP_UNORD_Q);
    found = _mm256_or_ps(found, _mm256_or_ps(low, high));
  }
  return {.size = rounds * 128, .nan = _mm256_movemask_ps(found) != 0};
}

Scanned ScanVectors(std::span<const std::byte> bytes) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2 ? ScanAvx2(bytes) : Scanned{};
}
#else
Scanned ScanVectors(std::span<const std::byte>) { return {}; }
#endif

bool HasNan(std::span<const std::byte> bytes) {
  const Scanned scanned = ScanVectors(bytes);
  if (scanned.nan) return true;
  for (size_t at = scanned.size; at + sizeof(uint32_t) <= bytes.size();
       at += sizeof(uint32_t)) {
    if (IsNan(WordAt(bytes, at))) return true;
  }
  return false;
}

// Returns the block with its NaNs made canonical.
std::vector<std::byte> Canonical(std::span<const std::byte> block) {
  std::vector<std::byte> copy(block.begin(), block.end());
  for (size_t at = 0; at + sizeof(uint32_t) <= copy.size();
       at += sizeof(uint32_t)) {
    if (!IsNan(WordAt(copy, at))) continue;
    std::memcpy(copy.data() + at, &kCanonicalNan, sizeof kCanonicalNan);
  }
  return copy;
}

}  // namespace

Digest FloatDigestOf(std::span<const std::byte> floats) {
  return HasNan(floats) ? DigestOf(Canonical(floats)) : DigestOf(floats);
}

}  // namespace gauntlet
