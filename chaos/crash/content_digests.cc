#include "chaos/crash/content_digests.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr size_t kReadAheadBlocks = 256;

// Returns the key of a block in blocks_: a digest of the descriptions of its
// pieces, not of its bytes.
Digest KeyOf(std::span<const ContentPiece> pieces) {
  return DigestOf(std::as_bytes(pieces));
}

void AddTo(Digest& sum, const Digest& term) {
  sum.high += term.high;
  sum.low += term.low;
}

Digest Placed(uint64_t place, const Digest& digest) {
  const std::array<uint64_t, 3> words = {place, digest.high, digest.low};
  return DigestOf(std::as_bytes(std::span(words)));
}

}  // namespace

Result<Digest> ContentDigestOfFile(const std::string& path) {
  constexpr uint64_t kBlock = ContentDigests::kBlockBytes;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return PosixError(errno, path, "open");
  std::vector<std::byte> buffer(kReadAheadBlocks * kBlock);
  const Digest zeros = DigestOf(std::span(buffer).first(kBlock));
  Digest sum;
  uint64_t size = 0;
  while (true) {
    size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t count = RetryOnInterrupt([&] {
        return read(file.get(), buffer.data() + filled, buffer.size() - filled);
      });
      if (count < 0) return PosixError(errno, path, "read");
      if (count == 0) break;
      filled += static_cast<size_t>(count);
    }
    std::ranges::fill(std::span(buffer).subspan(filled), std::byte{0});
    for (uint64_t at = 0; at < filled; at += kBlock) {
      const Digest digest = DigestOf(std::span(buffer).subspan(at, kBlock));
      if (digest != zeros) AddTo(sum, Placed((size + at) / kBlock, digest));
    }
    size += filled;
    if (filled < buffer.size()) break;
  }
  AddTo(sum, Placed(UINT64_MAX, {.high = 0, .low = size}));
  return sum;
}

ContentDigests::ContentDigests(const OperationLog& log)
    : log_(log), buffer_(kReadAheadBlocks * kBlockBytes) {
  for (const FileOperation& op : log.operations()) {
    if (op.bytes.length > 0) extents_[op.bytes.offset] = {.bytes = op.bytes};
  }
  zeros_ = DigestOf(std::span(buffer_).first(kBlockBytes));
}

Status ContentDigests::VerifyRange(uint64_t offset, uint64_t length) {
  auto extent = extents_.upper_bound(offset);
  if (extent != extents_.begin()) --extent;
  for (; extent != extents_.end() && extent->first < offset + length;
       ++extent) {
    if (extent->second.is_verified) continue;
    RETURN_IF_ERROR(
        log_.ReadBytes(extent->second.bytes, [](auto) { return OkStatus(); }));
    extent->second.is_verified = true;
  }
  return OkStatus();
}

Status ContentDigests::Verify(const FileContent& content) {
  for (const ContentPiece& piece : content.pieces()) {
    if (!piece.is_zeros())
      RETURN_IF_ERROR(VerifyRange(piece.source, piece.length));
  }
  return OkStatus();
}

Status ContentDigests::ReadAhead(const ContentPiece& rest) {
  const uint64_t bytes = std::min<uint64_t>(
      buffer_.size(), rest.length / kBlockBytes * kBlockBytes);
  RETURN_IF_ERROR(VerifyRange(rest.source, bytes));
  const auto read = std::span(buffer_).first(bytes);
  RETURN_IF_ERROR(log_.ReadPart(rest.source, read));
  for (uint64_t at = 0; at < bytes; at += kBlockBytes) {
    const ContentPiece block = {.length = kBlockBytes,
                                .source = rest.source + at};
    blocks_[KeyOf(std::span(&block, 1))] =
        DigestOf(read.subspan(at, kBlockBytes));
  }
  return OkStatus();
}

Result<Digest> ContentDigests::BlockOf(std::span<const ContentPiece> pieces) {
  const Digest key = KeyOf(pieces);
  const auto known = blocks_.find(key);
  if (known != blocks_.end()) return known->second;
  std::array<std::byte, kBlockBytes> block = {};
  std::span<std::byte> rest(block);
  for (const ContentPiece& piece : pieces) {
    if (!piece.is_zeros()) {
      RETURN_IF_ERROR(VerifyRange(piece.source, piece.length));
      RETURN_IF_ERROR(log_.ReadPart(piece.source, rest.first(piece.length)));
    }
    rest = rest.subspan(piece.length);
  }
  return blocks_[key] = DigestOf(block);
}

Result<Digest> ContentDigests::Of(const FileContent& content) {
  if (content.digest_) return *content.digest_;
  Digest sum = Placed(UINT64_MAX, {.high = 0, .low = content.size()});
  std::vector<ContentPiece> pieces;  // of the incomplete block
  uint64_t at = 0;                   // end of these pieces
  const auto add_block = [&](std::span<const ContentPiece> block) -> Status {
    ASSIGN_OR_RETURN(const Digest digest, BlockOf(block));
    if (digest != zeros_) AddTo(sum, Placed((at - 1) / kBlockBytes, digest));
    return OkStatus();
  };
  for (ContentPiece rest : content.pieces()) {
    while (rest.length > 0) {
      const uint64_t in_block = at % kBlockBytes;
      if (in_block == 0 && rest.is_zeros() && rest.length >= kBlockBytes) {
        const uint64_t skipped = rest.length / kBlockBytes * kBlockBytes;
        at += skipped;
        rest.length -= skipped;
        continue;
      }
      const ContentPiece part = {
          .length = std::min(rest.length, kBlockBytes - in_block),
          .source = rest.source};
      if (part.length == kBlockBytes &&
          !blocks_.contains(KeyOf(std::span(&part, 1)))) {
        RETURN_IF_ERROR(ReadAhead(rest));
      }
      pieces.push_back(part);
      at += part.length;
      rest.length -= part.length;
      if (!rest.is_zeros()) rest.source += part.length;
      if (at % kBlockBytes != 0) continue;
      RETURN_IF_ERROR(add_block(pieces));
      pieces.clear();
    }
  }
  if (!pieces.empty()) RETURN_IF_ERROR(add_block(pieces));
  content.digest_ = sum;
  return sum;
}

}  // namespace gauntlet
