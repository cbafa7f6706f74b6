#include "engine/ckpt/state_digest.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
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

#if defined(__x86_64__)
// 128 bytes a round. A comparison of two vectors finds the NaNs of both.
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

size_t BlocksOf(const TensorView& tensor) {
  return (tensor.bytes.size() + kDigestBlockBytes - 1) / kDigestBlockBytes;
}

// Size of the tensor's entry in the list that the digest of a state is over:
// size and text of the name, the type, number and sizes of the dimensions, the
// number of bytes, the digests of the blocks.
size_t EntryBytes(const TensorView& tensor) {
  return sizeof(uint64_t) * (3 + tensor.shape.size() + 2 * BlocksOf(tensor)) +
         tensor.name.size() + 1;
}

// Writes the digests of the tensor's blocks; returns what is behind them.
char* PutBlockDigests(const TensorView& tensor, char* to) {
  for (size_t at = 0; at < tensor.bytes.size(); at += kDigestBlockBytes) {
    const auto block = tensor.bytes.subspan(
        at, std::min(kDigestBlockBytes, tensor.bytes.size() - at));
    const Digest digest = tensor.dtype == DType::kF32 && HasNan(block)
                              ? DigestOf(Canonical(block))
                              : DigestOf(block);
    std::memcpy(to, &digest.high, sizeof digest.high);
    std::memcpy(to + sizeof digest.high, &digest.low, sizeof digest.low);
    to += sizeof digest.high + sizeof digest.low;
  }
  return to;
}

// Writes the entry up to the digests of the blocks; returns what is behind it.
char* PutDescription(const TensorView& tensor, char* to) {
  const auto put = [&](uint64_t value) {
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  };
  put(tensor.name.size());
  to = std::ranges::copy(tensor.name, to).out;
  *to++ = static_cast<char>(tensor.dtype);
  put(tensor.shape.size());
  for (const uint64_t dimension : tensor.shape) put(dimension);
  put(tensor.bytes.size());
  return to;
}

// Writes the entry; returns what is behind it.
char* PutEntry(const TensorView& tensor, char* to) {
  return PutBlockDigests(tensor, PutDescription(tensor, to));
}

std::string EntryOf(const TensorView& tensor) {
  std::string entry(EntryBytes(tensor), '\0');
  PutEntry(tensor, entry.data());
  return entry;
}

}  // namespace

Digest StateDigest(std::span<const TensorView> tensors) {
  size_t size = 0;
  for (const TensorView& tensor : tensors) size += EntryBytes(tensor);
  std::string list(size, '\0');
  char* to = list.data();
  if (InNameOrder(tensors)) {
    for (const TensorView& tensor : tensors) to = PutEntry(tensor, to);
  } else {
    for (const size_t i : NameOrder(tensors)) to = PutEntry(tensors[i], to);
  }
  return DigestOf(list);
}

Digest StateDigester::Compute(std::span<const TensorView> tensors) {
  const bool same = std::ranges::equal(
      tensors, entries_, {},
      [](const TensorView& tensor) { return tensor.bytes.size(); },
      &Entry::bytes);
  if (!same) Describe(tensors);
  for (size_t i = 0; i < tensors.size(); ++i) {
    PutBlockDigests(tensors[i], list_.data() + entries_[i].digests_at);
  }
  return DigestOf(list_);
}

void StateDigester::Describe(std::span<const TensorView> tensors) {
  CHECK(InNameOrder(tensors), "a state's tensors are in the order of names");
  size_t size = 0;
  for (const TensorView& tensor : tensors) size += EntryBytes(tensor);
  list_.assign(size, '\0');
  entries_.clear();
  char* to = list_.data();
  for (const TensorView& tensor : tensors) {
    to = PutDescription(tensor, to);
    entries_.push_back({.bytes = tensor.bytes.size(),
                        .digests_at = static_cast<size_t>(to - list_.data())});
    to += 2 * sizeof(uint64_t) * BlocksOf(tensor);
  }
}

std::vector<TensorDigest> TensorDigests(std::span<const TensorView> tensors) {
  std::vector<TensorDigest> digests;
  for (const size_t i : NameOrder(tensors)) {
    digests.push_back(
        {.name = tensors[i].name, .digest = DigestOf(EntryOf(tensors[i]))});
  }
  return digests;
}

}  // namespace gauntlet
