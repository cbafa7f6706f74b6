#include "engine/ckpt/state/state_digest.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/check.h"
#include "engine/ckpt/state/digest_stream.h"
#include "engine/ckpt/state/shard_plan.h"
#include "engine/float_digest.h"

namespace gauntlet {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensor bytes and digests are little-endian");

// Returns the size of a tensor's entry (state_digest.h) without the digests of
// its blocks.
size_t DescriptionBytes(const TensorView& tensor) {
  return sizeof(uint64_t) * (3 + tensor.shape.size()) + tensor.name.size() + 1;
}

// Returns the size of the tensor's entry in the list that a state digest is
// computed over.
size_t EntryBytes(const TensorView& tensor) {
  return DescriptionBytes(tensor) +
         sizeof(uint64_t) * 2 * DigestBlocksOf(tensor.bytes.size());
}

// Returns the number of bytes that dtype and shape imply.
size_t ImpliedBytes(const TensorView& tensor) {
  size_t bytes = DTypeBytes(tensor.dtype);
  for (const uint64_t dimension : tensor.shape) bytes *= dimension;
  return bytes;
}

char* PutDigest(const Digest& digest, char* to) {
  std::memcpy(to, &digest.high, sizeof digest.high);
  std::memcpy(to + sizeof digest.high, &digest.low, sizeof digest.low);
  return to + sizeof digest.high + sizeof digest.low;
}

Digest BlockDigestOf(DType dtype, std::span<const std::byte> block) {
  return dtype == DType::kF32 ? FloatDigestOf(block) : DigestOf(block);
}

// Calls take(digest) for each of the tensor's blocks.
template <typename Take>
void ForBlockDigests(const TensorView& tensor, const Take& take) {
  for (size_t at = 0; at < tensor.bytes.size(); at += kDigestBlockBytes) {
    take(BlockDigestOf(
        tensor.dtype,
        tensor.bytes.subspan(
            at, std::min(kDigestBlockBytes, tensor.bytes.size() - at))));
  }
}

// Writes the digests of the tensor's blocks to `to`. Returns the end of them.
char* PutBlockDigests(const TensorView& tensor, char* to) {
  ForBlockDigests(tensor,
                  [&](const Digest& digest) { to = PutDigest(digest, to); });
  return to;
}

// Writes the tensor's entry to `to`, but without the digests of the blocks.
// Returns the end of the written bytes.
char* PutDescription(const TensorView& tensor, size_t bytes, char* to) {
  const auto put = [&](uint64_t value) {
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  };
  put(tensor.name.size());
  std::memcpy(to, tensor.name.data(), tensor.name.size());
  to += tensor.name.size();
  *to++ = static_cast<char>(tensor.dtype);
  put(tensor.shape.size());
  for (const uint64_t dimension : tensor.shape) put(dimension);
  put(bytes);
  return to;
}

// Writes the entry to `to`. Returns its end.
char* PutEntry(const TensorView& tensor, char* to) {
  return PutBlockDigests(tensor,
                         PutDescription(tensor, tensor.bytes.size(), to));
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
  for (const size_t i : NameOrder(tensors)) to = PutEntry(tensors[i], to);
  return DigestOf(list);
}

BlockDigests BlockDigestsOf(const TensorView& tensor) {
  BlockDigests digests;
  digests.reserve(DigestBlocksOf(tensor.bytes.size()));
  ForBlockDigests(tensor,
                  [&](const Digest& digest) { digests.push_back(digest); });
  return digests;
}

void BlockDigester::Update(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t size =
        std::min(kDigestBlockBytes - begun_.size(), bytes.size());
    const auto piece = bytes.first(size);
    bytes = bytes.subspan(size);
    if (size == kDigestBlockBytes) {
      Add(piece);
      continue;
    }
    begun_.insert(begun_.end(), piece.begin(), piece.end());
    if (begun_.size() == kDigestBlockBytes) {
      Add(begun_);
      begun_.clear();
    }
  }
}

BlockDigests BlockDigester::Finish() {
  if (!begun_.empty()) Add(begun_);
  begun_.clear();
  return std::move(digests_);
}

void BlockDigester::Add(std::span<const std::byte> block) {
  digests_.push_back(BlockDigestOf(dtype_, block));
}

Digest StateDigest(std::span<const TensorView> tensors,
                   std::span<const BlockDigests> blocks) {
  CHECK(blocks.size() == tensors.size(), "the digests of each tensor's blocks");
  DigestStream list;
  std::string part;
  for (const size_t i : NameOrder(tensors)) {
    const TensorView& tensor = tensors[i];
    const size_t bytes = ImpliedBytes(tensor);
    CHECK(blocks[i].size() == DigestBlocksOf(bytes), "one for each block");
    part.assign(DescriptionBytes(tensor), '\0');
    PutDescription(tensor, bytes, part.data());
    list.Update(std::as_bytes(std::span(part)));
    part.assign(2 * sizeof(uint64_t) * blocks[i].size(), '\0');
    char* to = part.data();
    for (const Digest& digest : blocks[i]) to = PutDigest(digest, to);
    list.Update(std::as_bytes(std::span(part)));
  }
  return list.Finish();
}

Digest StateDigester::Compute(std::span<const TensorView> tensors,
                              std::span<const BlockDigests> elsewhere) {
  CHECK(elsewhere.empty() || elsewhere.size() == tensors.size(),
        "the digests of each tensor's blocks, or none");
  const bool same = std::ranges::equal(
      tensors, entries_, {},
      [](const TensorView& tensor) { return tensor.bytes.size(); },
      &Entry::bytes);
  if (!same) Describe(tensors);
  for (size_t i = 0; i < tensors.size(); ++i) {
    char* to = list_.data() + entries_[i].digests_at;
    if (elsewhere.empty() || elsewhere[i].empty()) {
      PutBlockDigests(tensors[i], to);
      continue;
    }
    CHECK(elsewhere[i].size() == DigestBlocksOf(tensors[i].bytes.size()),
          "one for each block");
    for (const Digest& digest : elsewhere[i]) to = PutDigest(digest, to);
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
    to = PutDescription(tensor, tensor.bytes.size(), to);
    entries_.push_back({.bytes = tensor.bytes.size(),
                        .digests_at = static_cast<size_t>(to - list_.data())});
    to += 2 * sizeof(uint64_t) * DigestBlocksOf(tensor.bytes.size());
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
