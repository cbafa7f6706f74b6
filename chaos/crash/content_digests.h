// Digests of file contents: equal for equal bytes, whoever wrote them.
//
// The digest of a content is the sum of those of its blocks of 4 KiB, each with
// its place; blocks of zeros count nothing, so that a hole is equal to zeros
// that were written. Each byte of the log is read about once.
#ifndef GAUNTLET_CHAOS_CRASH_CONTENT_DIGESTS_H_
#define GAUNTLET_CHAOS_CRASH_CONTENT_DIGESTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "chaos/crash/file_content.h"
#include "chaos/trace/log/operation_log.h"

namespace gauntlet {

// Digests a file on a disk; equal to the digest of a content with the same
// bytes. Errors: those of open(2) and read(2).
Result<Digest> ContentDigestOfFile(const std::string& path);

class ContentDigests {
 public:
  static constexpr uint64_t kBlockBytes = 4096;

  // The log outlives this.
  explicit ContentDigests(const OperationLog& log);

  // kDataLoss: the log's bytes are cut or changed.
  Result<Digest> Of(const FileContent& content);
  // Reads the extents behind the pieces and compares them with the digests that
  // were recorded, each once.
  Status Verify(const FileContent& content);

 private:
  // Digest of one block, by the pieces that it is made of.
  using Blocks = std::unordered_map<Digest, Digest, DigestHash>;

  Result<Digest> BlockOf(std::span<const ContentPiece> pieces);
  // Digests of the whole blocks of a piece, some ahead of the one asked for.
  Status ReadAhead(const ContentPiece& rest);
  Status VerifyRange(uint64_t offset, uint64_t length);

  struct Extent {
    ByteExtent bytes;
    bool is_verified = false;
  };

  const OperationLog& log_;
  std::map<uint64_t, Extent> extents_;  // by offset
  Digest zeros_;                        // of a block of them
  Blocks blocks_;
  std::vector<std::byte> buffer_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CONTENT_DIGESTS_H_
