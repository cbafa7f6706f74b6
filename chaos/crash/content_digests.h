// Digests of file contents: equal for equal bytes, whichever operations wrote
// them.
//
// The digest of a content is a sum: one term for its size, and one for each
// block of 4 KiB, from the block's bytes and position. Blocks of zeros add
// nothing, so a hole and written zeros have the same digest. Digests of blocks
// are kept, so that most bytes of the log are read only for the first content
// that has them.
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
  // Key: digest of the list of a block's pieces. Value: digest of its bytes.
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
