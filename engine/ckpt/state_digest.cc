#include "engine/ckpt/state_digest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>

#include "engine/check.h"
#include "engine/ckpt/shard_plan.h"

namespace gauntlet {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensor bytes and digests are little-endian");

constexpr uint32_t kCanonicalNan = 0x7fc00000;
constexpr int32_t kInfinity = 0x7f800000;
constexpr int32_t kMagnitude = 0x7fffffff;
// Words that are looked at in one go: a fixed count, so that it vectorises.
constexpr size_t kScanWords = 256;

bool IsNan(int32_t bits) { return (bits & kMagnitude) > kInfinity; }

bool HasNan(std::span<const std::byte> bytes) {
  std::array<int32_t, kScanWords> words;
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), sizeof words);
    if (size < sizeof words) words.fill(0);
    std::memcpy(words.data(), bytes.data(), size);
    int32_t found = 0;
    for (size_t i = 0; i < kScanWords; ++i) {
      found |= static_cast<int32_t>(IsNan(words[i]));
    }
    if (found != 0) return true;
    bytes = bytes.subspan(size);
  }
  return false;
}

// The block with its NaNs made canonical.
std::vector<std::byte> Canonical(std::span<const std::byte> block) {
  std::vector<std::byte> copy(block.begin(), block.end());
  for (size_t at = 0; at + sizeof(int32_t) <= copy.size();
       at += sizeof(int32_t)) {
    int32_t bits = 0;
    std::memcpy(&bits, copy.data() + at, sizeof bits);
    if (!IsNan(bits)) continue;
    std::memcpy(copy.data() + at, &kCanonicalNan, sizeof kCanonicalNan);
  }
  return copy;
}

void AppendU64(uint64_t value, std::string& out) {
  std::array<char, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  out.append(bytes.data(), bytes.size());
}

// The tensor's entry in the list that the digest of a state is over.
std::string ListEntry(const TensorView& tensor) {
  std::string entry;
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
  return entry;
}

}  // namespace

Digest StateDigest(std::span<const TensorView> tensors) {
  std::string list;
  for (const size_t i : NameOrder(tensors)) list += ListEntry(tensors[i]);
  return DigestOf(list);
}

std::vector<TensorDigest> TensorDigests(std::span<const TensorView> tensors) {
  std::vector<TensorDigest> digests;
  for (const size_t i : NameOrder(tensors)) {
    digests.push_back(
        {.name = tensors[i].name, .digest = DigestOf(ListEntry(tensors[i]))});
  }
  return digests;
}

}  // namespace gauntlet
