#include "chaos/crash/file_content.h"

#include <algorithm>

#include <linux/falloc.h>

namespace gauntlet {
namespace {

void Append(std::vector<ContentPiece>& pieces, const ContentPiece& piece) {
  if (piece.length == 0) return;
  if (!pieces.empty()) {
    ContentPiece& last = pieces.back();
    const bool continues =
        last.is_zeros()
            ? piece.is_zeros()
            : !piece.is_zeros() && last.source + last.length == piece.source;
    if (continues) {
      last.length += piece.length;
      return;
    }
  }
  pieces.push_back(piece);
}

}  // namespace

std::vector<ContentPiece> FileContent::Slice(uint64_t begin,
                                             uint64_t end) const {
  std::vector<ContentPiece> slice;
  uint64_t at = 0;
  for (const ContentPiece& piece : pieces_) {
    if (at >= end) break;
    const uint64_t first = std::max(at, begin);
    const uint64_t last = std::min(at + piece.length, end);
    if (first < last) {
      Append(slice, {.length = last - first,
                     .source = piece.is_zeros() ? ContentPiece::kZeros
                                                : piece.source + (first - at)});
    }
    at += piece.length;
  }
  if (end > size_) Append(slice, {.length = end - std::max(size_, begin)});
  return slice;
}

void FileContent::Replace(uint64_t begin, uint64_t end,
                          std::span<const ContentPiece> with) {
  std::vector<ContentPiece> pieces = Slice(0, begin);
  for (const ContentPiece& piece : with) Append(pieces, piece);
  if (end < size_) {
    for (const ContentPiece& piece : Slice(end, size_)) Append(pieces, piece);
  }
  pieces_ = std::move(pieces);
  size_ = 0;
  for (const ContentPiece& piece : pieces_) size_ += piece.length;
  digest_.reset();
}

void FileContent::Write(uint64_t at, const ByteExtent& bytes) {
  if (bytes.length == 0) return;
  const ContentPiece piece = {.length = bytes.length, .source = bytes.offset};
  Replace(at, at + bytes.length, std::span(&piece, 1));
}

void FileContent::Overlay(const FileContent& other, uint64_t begin,
                          uint64_t end) {
  Replace(begin, end, other.Slice(begin, end));
}

void FileContent::Resize(uint64_t size) {
  if (size != size_) Replace(size, UINT64_MAX, {});
}

void FileContent::Zero(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  const ContentPiece zeros = {.length = end - begin};
  Replace(begin, end, std::span(&zeros, 1));
}

void FileContent::Collapse(uint64_t begin, uint64_t end) {
  Replace(begin, end, {});
}

void FileContent::Insert(uint64_t at, uint64_t length) {
  const ContentPiece zeros = {.length = length};
  Replace(at, at, std::span(&zeros, 1));
}

void FileContent::Apply(const FileOperation& op) {
  const uint64_t end = op.offset + op.length;
  const bool keeps_size = (op.flags & FALLOC_FL_KEEP_SIZE) != 0;
  switch (op.kind) {
    case OperationKind::kWrite:
      if (op.by_mapping) Resize(op.bytes.length);
      return Write(op.offset, op.bytes);
    case OperationKind::kEnter:
      Resize(0);
      return Write(0, op.bytes);
    case OperationKind::kTruncate:
      return Resize(op.length);
    case OperationKind::kAllocate:
      if (!keeps_size && end > size_) Resize(end);
      return;
    case OperationKind::kPunchHole:
      return Zero(op.offset, std::min(end, size_));
    case OperationKind::kZeroRange:
      return Zero(op.offset, keeps_size ? std::min(end, size_) : end);
    case OperationKind::kCollapseRange:
      return Collapse(op.offset, end);
    case OperationKind::kInsertRange:
      return Insert(op.offset, op.length);
    default:
      return;
  }
}

bool ChangesContent(OperationKind kind) {
  switch (kind) {
    case OperationKind::kWrite:
    case OperationKind::kTruncate:
    case OperationKind::kAllocate:
    case OperationKind::kPunchHole:
    case OperationKind::kZeroRange:
    case OperationKind::kCollapseRange:
    case OperationKind::kInsertRange:
      return true;
    default:
      return false;
  }
}

}  // namespace gauntlet
