// Reads each file of a checkpoint once, from beginning to end, and stores the
// tensors of shards in their places (TensorPlaces).
//
// Each read is one block: kMaxBlock bytes at a multiple of kMaxBlock, fewer at
// the end of the file. A block within one tensor is read directly into the
// tensor's place. A block with parts of several tensors, or of the header, is
// read into a buffer and copied from there.
#ifndef GAUNTLET_ENGINE_CKPT_IO_SHARD_READER_H_
#define GAUNTLET_ENGINE_CKPT_IO_SHARD_READER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/io/block_writer.h"
#include "engine/ckpt/state/digest_stream.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/digest.h"
#include "engine/status.h"
#include "engine/tensor.h"
#include "engine/world/storage.h"

namespace gauntlet {

// Reads and digests the blocks of a file.
class BlockReader {
 public:
  // `file` and `name` outlive the reader; `name` is for messages.
  BlockReader(File& file, std::string_view name, uint64_t size)
      : file_(file), name_(name), size_(size) {}

  uint64_t size() const { return size_; }
  // Offset of the next block in the file.
  uint64_t offset() const { return at_; }
  // Size of the next block; 0 at the end.
  size_t next_block_bytes() const {
    return std::min<uint64_t>(size_ - at_, kMaxBlock);
  }
  // Reads the next block. kDataLoss: the file is now shorter. REQUIRES:
  // `block` has the size of the next block, which is not 0.
  Status Read(std::span<std::byte> block);
  // Returns the digest of all blocks so far.
  Digest digest() const { return digest_.Finish(); }

 private:
  File& file_;
  std::string_view name_;
  uint64_t size_;
  uint64_t at_ = 0;
  DigestStream digest_;
};

struct ShardContents {
  std::vector<TensorView> tensors;  // in the order of the data
  // Memory of the tensors for which TensorPlaces returned none.
  std::unique_ptr<const std::byte[]> bytes;
  Digest digest;  // of the file
  // kDataLoss: the file is not in the format of a shard; `tensors` is then
  // empty.
  Status format;
};

// The tensors of a shard and their digests, without the tensors' bytes.
struct ShardDigests {
  // In the order of the data.
  std::vector<TensorView> tensors;
  std::vector<BlockDigests> blocks;  // of each tensor
  Digest digest;                     // of the file
  // As ShardContents::format.
  Status format;
};

// Reads the whole file even if it is not in the format of a shard. So the
// caller can report a wrong digest, which explains the wrong format. REQUIRES:
// `reader` has not read anything yet.
Result<ShardContents> ReadShard(BlockReader& reader,
                                const TensorPlaces& places);

// As ReadShard, but keeps only digests: reads all blocks into the same buffer.
Result<ShardDigests> DigestShard(BlockReader& reader);

// Reads the whole file and returns only its digest.
Result<Digest> ReadDigest(BlockReader& reader);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_SHARD_READER_H_
