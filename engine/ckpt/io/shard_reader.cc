#include "engine/ckpt/io/shard_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/check.h"
#include "engine/ckpt/format/safetensors.h"
#include "engine/ckpt/io/shard_memory.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Appends the next block to the bytes that were read before it.
Status AppendBlock(BlockReader& reader, std::vector<std::byte>& bytes) {
  const size_t size = reader.next_block_bytes();
  if (size == 0) return OkStatus();
  bytes.resize(bytes.size() + size);
  return reader.Read(std::span(bytes).last(size));
}

// Returns the first blocks of the file: as many as its header needs, if it has
// a valid one.
Result<std::vector<std::byte>> ReadBeginning(BlockReader& reader) {
  std::vector<std::byte> bytes;
  RETURN_IF_ERROR(AppendBlock(reader, bytes));
  const Result<uint64_t> header = SafetensorsHeaderBytes(bytes, reader.size());
  while (header.ok() && *header > bytes.size()) {
    RETURN_IF_ERROR(AppendBlock(reader, bytes));
  }
  return bytes;
}

// Digests the tensors of a shard block by block.
class TensorScan {
 public:
  // `entries` outlives it.
  explicit TensorScan(std::span<const SafetensorsEntry> entries)
      : entries_(entries) {
    blocks_.reserve(entries.size());
  }

  // Takes the next block of the file, which begins at offset `at`.
  void Update(std::span<const std::byte> block, uint64_t at) {
    const uint64_t block_end = at + block.size();
    while (blocks_.size() < entries_.size()) {
      const SafetensorsEntry& entry = entries_[blocks_.size()];
      if (!digester_) digester_.emplace(entry.tensor.dtype);
      const uint64_t begin = std::max(at, entry.begin);
      const uint64_t end = std::min(block_end, entry.end);
      if (begin < end) {
        digester_->Update(block.subspan(begin - at, end - begin));
      }
      if (entry.end > block_end) return;
      blocks_.push_back(digester_->Finish());
      digester_.reset();
    }
  }

  // Called after the last block.
  std::vector<BlockDigests> Finish() {
    CHECK(blocks_.size() == entries_.size(), "the tensors end within the file");
    return std::move(blocks_);
  }

 private:
  std::span<const SafetensorsEntry> entries_;
  std::vector<BlockDigests> blocks_;       // of the tensors so far
  std::optional<BlockDigester> digester_;  // of the next one
};

}  // namespace

Status BlockReader::Read(std::span<std::byte> block) {
  CHECK(!block.empty() && block.size() == next_block_bytes(), "the next block");
  ASSIGN_OR_RETURN(const size_t read, file_.ReadAt(at_, block));
  at_ += read;
  // Digests the block now, while it is in the CPU cache.
  digest_.Update(block.first(read));
  if (read == block.size()) return OkStatus();
  return DataLoss(
      fmt::format("{}: expected {} bytes, found {}", name_, size_, at_));
}

Result<ShardContents> ReadShard(BlockReader& reader,
                                const TensorPlaces& places) {
  ShardContents contents;
  ASSIGN_OR_RETURN(std::vector<std::byte> buffer, ReadBeginning(reader));
  Result<std::vector<SafetensorsEntry>> entries =
      ParseSafetensorsHeader(buffer, reader.size());
  contents.format = entries.status();
  ShardMemory memory;
  if (entries.ok()) memory = ShardMemory(*std::move(entries), places);
  memory.Copy(buffer, 0);
  while (reader.next_block_bytes() > 0) {
    const uint64_t at = reader.offset();
    const std::span<std::byte> place =
        memory.PlaceOf(at, reader.next_block_bytes());
    if (!place.empty()) {
      RETURN_IF_ERROR(reader.Read(place));
      continue;
    }
    buffer.resize(reader.next_block_bytes());
    RETURN_IF_ERROR(reader.Read(buffer));
    memory.Copy(buffer, at);
  }
  contents.tensors = memory.TakeTensors();
  contents.bytes = memory.TakeBytes();
  contents.digest = reader.digest();
  return contents;
}

Result<ShardDigests> DigestShard(BlockReader& reader) {
  ShardDigests digests;
  ASSIGN_OR_RETURN(std::vector<std::byte> buffer, ReadBeginning(reader));
  Result<std::vector<SafetensorsEntry>> parsed =
      ParseSafetensorsHeader(buffer, reader.size());
  digests.format = parsed.status();
  std::vector<SafetensorsEntry> entries;
  if (parsed.ok()) entries = *std::move(parsed);
  TensorScan scan(entries);
  scan.Update(buffer, 0);
  while (reader.next_block_bytes() > 0) {
    const uint64_t at = reader.offset();
    buffer.resize(reader.next_block_bytes());
    RETURN_IF_ERROR(reader.Read(buffer));
    scan.Update(buffer, at);
  }
  digests.blocks = scan.Finish();
  digests.tensors.reserve(entries.size());
  for (SafetensorsEntry& entry : entries) {
    digests.tensors.push_back(std::move(entry.tensor));
  }
  digests.digest = reader.digest();
  return digests;
}

Result<Digest> ReadDigest(BlockReader& reader) {
  std::vector<std::byte> buffer;
  while (reader.next_block_bytes() > 0) {
    buffer.resize(reader.next_block_bytes());
    RETURN_IF_ERROR(reader.Read(buffer));
  }
  return reader.digest();
}

}  // namespace gauntlet
