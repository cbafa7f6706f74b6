// The content of a file after some operations, as a list of references: each
// piece is a range of the log's bytes, or zeros. The bytes themselves are not
// stored.
#ifndef GAUNTLET_CHAOS_CRASH_FILE_CONTENT_H_
#define GAUNTLET_CHAOS_CRASH_FILE_CONTENT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chaos/trace/log/file_operation.h"
#include "engine/digest.h"

namespace gauntlet {

struct ContentPiece {
  static constexpr uint64_t kZeros = UINT64_MAX;

  uint64_t length = 0;       // bytes
  uint64_t source = kZeros;  // offset in the log's bytes

  bool operator==(const ContentPiece&) const = default;
  bool is_zeros() const { return source == kZeros; }
};

class FileContent {
 public:
  uint64_t size() const { return size_; }
  // Returns the pieces from the file's beginning to its end, without gaps.
  // Adjacent pieces that could be one piece are merged.
  const std::vector<ContentPiece>& pieces() const { return pieces_; }
  // Returns the pieces of [begin, end); zeros after the end of the file.
  std::vector<ContentPiece> Slice(uint64_t begin, uint64_t end) const;

  // Writes bytes. A gap after the end of the file becomes zeros.
  void Write(uint64_t at, const ByteExtent& bytes);
  // Copies [begin, end) from another content; zeros after its end.
  void Overlay(const FileContent& other, uint64_t begin, uint64_t end);
  void Resize(uint64_t size);
  // Sets [begin, end) to zeros.
  void Zero(uint64_t begin, uint64_t end);
  // Removes [begin, end): later bytes move to `begin`.
  void Collapse(uint64_t begin, uint64_t end);
  // Inserts `length` zeros at `at`: the bytes from there on move up.
  void Insert(uint64_t at, uint64_t length);
  // Applies the effect of a kWrite, kTruncate, kEnter or any fallocate
  // operation.
  void Apply(const FileOperation& operation);

 private:
  friend class ContentDigests;

  void Replace(uint64_t begin, uint64_t end,
               std::span<const ContentPiece> with);

  std::vector<ContentPiece> pieces_;
  uint64_t size_ = 0;
  mutable std::optional<Digest> digest_;  // computed by ContentDigests
};

// Returns true if operations of this kind change the content of a file.
bool ChangesContent(OperationKind kind);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_FILE_CONTENT_H_
