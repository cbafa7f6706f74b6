#include "engine/ckpt/state_digest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "engine/check.h"
#include "engine/ckpt/shard_plan.h"

namespace gauntlet {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensor bytes and digests are little-endian");

constexpr uint32_t kCanonicalNan = 0x7fc00000;
constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kMagnitude = 0x7fffffff;

uint32_t WordAt(std::span<const std::byte> bytes, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

bool IsNan(uint32_t bits) { return (bits & kMagnitude) > kInfinity; }

// How much of the bytes, from the front, was looked at in vectors, and whether
// there is a NaN in it.
struct Scanned {
  size_t size = 0;
  bool nan = false;
};

#if defined(__SSE2__)
Scanned ScanVectors(std::span<const std::byte> bytes) {
  constexpr size_t kStride = 4 * sizeof(__m128);
  const auto at = [&](size_t offset) {
    return _mm_loadu_ps(reinterpret_cast<const float*>(bytes.data() + offset));
  };
  // A comparison of two vectors finds the NaNs of both.
  __m128 found = _mm_setzero_ps();
  size_t size = 0;
  for (; size + kStride <= bytes.size(); size += kStride) {
    found = _mm_or_ps(found,
                      _mm_or_ps(_mm_cmpunord_ps(at(size), at(size + 16)),
                                _mm_cmpunord_ps(at(size + 32), at(size + 48))));
  }
  return {.size = size, .nan = _mm_movemask_ps(found) != 0};
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

// The block with its NaNs made canonical.
std::vector<std::byte> Canonical(std::span<const std::byte> block) {
  std::vector<std::byte> copy(block.begin(), block.end());
  for (size_t at = 0; at + sizeof(uint32_t) <= copy.size();
       at += sizeof(uint32_t)) {
    if (!IsNan(WordAt(copy, at))) continue;
    std::memcpy(copy.data() + at, &kCanonicalNan, sizeof kCanonicalNan);
  }
  return copy;
}

void AppendU64(uint64_t value, std::string& out) {
  std::array<char, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  out.append(bytes.data(), bytes.size());
}

// Appends the tensor's entry in the list that the digest of a state is over.
void AppendEntry(const TensorView& tensor, std::string& entry) {
  AppendU64(tensor.name.size(), entry);
  entry += tensor.name;
  entry += static_cast<char>(tensor.dtype);
  AppendU64(tensor.shape.size(), entry);
  for (const uint64_t dimension : tensor.shape) AppendU64(dimension, entry);
  AppendU64(tensor.bytes.size(), entry);
  for (size_t at = 0; at < tensor.bytes.size(); at += kDigestBlockBytes) {
    const auto block = tensor.bytes.subspan(
        at, std::min(kDigestBlockBytes, tensor.bytes.size() - at));
    const Digest digest = tensor.dtype == DType::kF32 && HasNan(block)
                              ? DigestOf(Canonical(block))
                              : DigestOf(block);
    AppendU64(digest.high, entry);
    AppendU64(digest.low, entry);
  }
}

}  // namespace

Digest StateDigest(std::span<const TensorView> tensors) {
  // Of an entry with a name of that length, one dimension and one block.
  constexpr size_t kUsualEntryBytes = 80;
  std::string list;
  list.reserve(tensors.size() * kUsualEntryBytes);
  for (const size_t i : NameOrder(tensors)) AppendEntry(tensors[i], list);
  return DigestOf(list);
}

std::vector<TensorDigest> TensorDigests(std::span<const TensorView> tensors) {
  std::vector<TensorDigest> digests;
  for (const size_t i : NameOrder(tensors)) {
    std::string entry;
    AppendEntry(tensors[i], entry);
    digests.push_back({.name = tensors[i].name, .digest = DigestOf(entry)});
  }
  return digests;
}

}  // namespace gauntlet
