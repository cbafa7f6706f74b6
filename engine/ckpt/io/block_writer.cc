#include "engine/ckpt/io/block_writer.h"

#include <algorithm>
#include <vector>

#include "engine/ckpt/io/finite_scan.h"
#include "engine/ckpt/state/digest_stream.h"

namespace gauntlet {
namespace {

// Iterates over the parts in blocks. Copies only the bytes of blocks that span
// several parts.
class BlockCursor {
 public:
  explicit BlockCursor(std::span<const std::span<const std::byte>> parts)
      : parts_(parts) {}

  // Returns the next `size` bytes; valid until the next call. REQUIRES: at
  // least `size` bytes are left.
  std::span<const std::byte> Next(size_t size) {
    SkipEmpty();
    if (parts_.front().size() - offset_ >= size) {
      const auto block = parts_.front().subspan(offset_, size);
      offset_ += size;
      return block;
    }
    buffer_.clear();
    buffer_.reserve(size);
    while (buffer_.size() < size) {
      SkipEmpty();
      const auto rest = parts_.front().subspan(offset_);
      const auto piece =
          rest.first(std::min(rest.size(), size - buffer_.size()));
      buffer_.insert(buffer_.end(), piece.begin(), piece.end());
      offset_ += piece.size();
    }
    return buffer_;
  }

 private:
  void SkipEmpty() {
    while (offset_ == parts_.front().size()) {
      parts_ = parts_.subspan(1);
      offset_ = 0;
    }
  }

  std::span<const std::span<const std::byte>> parts_;
  size_t offset_ = 0;  // into the first part
  std::vector<std::byte> buffer_;
};

}  // namespace

uint64_t BlockSize(uint64_t file_bytes) {
  const uint64_t quarter = (file_bytes + 3) / 4;
  const uint64_t rounded =
      (quarter + kBlockGranule - 1) / kBlockGranule * kBlockGranule;
  return std::clamp(rounded, kBlockGranule, kMaxBlock);
}

Result<WrittenFile> WriteInBlocks(
    World& world, const std::string& path,
    std::span<const std::span<const std::byte>> parts, const WritePlan& plan) {
  WrittenFile written;
  for (const auto part : parts) written.bytes += part.size();
  const uint64_t block_size = BlockSize(written.bytes);
  ASSIGN_OR_RETURN(const auto file, world.storage.Open(path, plan.mode));
  DigestStream digest;
  BlockCursor cursor(parts);
  PointContext context{
      .step = plan.step, .epoch = plan.epoch, .size = written.bytes};
  for (uint64_t at = 0; at < written.bytes; at += block_size) {
    const auto block = cursor.Next(std::min(block_size, written.bytes - at));
    context.offset = at;
    context.block = at / block_size;
    if (plan.write_point) {
      RETURN_IF_ERROR(world.faults.Hit(*plan.write_point, context));
    }
    RETURN_IF_ERROR(file->WriteAt(at, block));
    Lap(plan.times, TimePart::kWrite);
    digest.Update(block);
    if (plan.scan != nullptr) plan.scan->Update(block);
    Lap(plan.times, TimePart::kDigest);
  }
  context.offset = 0;
  context.block = 0;
  if (plan.sync_point) {
    RETURN_IF_ERROR(world.faults.Hit(*plan.sync_point, context));
  }
  if (plan.sync == SyncFile::kYes) RETURN_IF_ERROR(file->Sync());
  Lap(plan.times, TimePart::kSync);
  written.digest = digest.Finish();
  return written;
}

Result<WrittenFile> WriteInBlocks(World& world, const std::string& path,
                                  std::string_view text,
                                  const WritePlan& plan) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  return WriteInBlocks(world, path, std::span(&part, 1), plan);
}

}  // namespace gauntlet
