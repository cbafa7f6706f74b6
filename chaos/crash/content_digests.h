// Digests of file contents: equal for equal bytes, whichever operations wrote
// them.
//
// The digest of a content is the sum of the digests of its blocks of 4 KiB,
// each combined with its position. Blocks of zeros add nothing, so that a hole
// equals written zeros. Each byte of the log is read about once.
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

// Returns the digest of a file on a disk. It equals the digest of a content
// with the same bytes. Errors: those of open(2) and read(2).
Result<Digest> ContentDigestOfFile(const std::string& path);

class ContentDigests {
 public:
  static constexpr uint64_t kBlockBytes = 4096;

  // The log must outlive this.
  explicit ContentDigests(const OperationLog& log);

  // Returns the digest. kDataLoss: the log's bytes are truncated or changed.
  Result<Digest> Of(const FileContent& content);
  // Compares each extent of the log that a piece of the content belongs to with
  // its recorded digest. Reads each extent only once.
  Status Verify(const FileContent& content);

 private:
  // Digest of a block's bytes, by a digest of the list of its pieces.
  using Blocks = std::unordered_map<Digest, Digest, DigestHash>;

  Result<Digest> BlockOf(std::span<const ContentPiece> pieces);
  // Digests the whole blocks at the beginning of a piece, as many as fit into
  // the buffer, and adds them to blocks_. REQUIRES: the piece starts at a block
  // boundary.
  Status ReadAhead(const ContentPiece& rest);
  Status VerifyRange(uint64_t offset, uint64_t length);

  struct Extent {
    ByteExtent bytes;
    bool is_verified = false;
  };

  const OperationLog& log_;
  std::map<uint64_t, Extent> extents_;  // by offset
  Digest zeros_;                        // of a block of zeros
  Blocks blocks_;
  std::vector<std::byte> buffer_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CONTENT_DIGESTS_H_
