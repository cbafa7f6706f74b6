// Writes a file of the store block by block, with a fault point before each
// block and before the sync.
#ifndef GAUNTLET_ENGINE_CKPT_IO_BLOCK_WRITER_H_
#define GAUNTLET_ENGINE_CKPT_IO_BLOCK_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/digest.h"
#include "engine/status.h"
#include "engine/world/time_split.h"
#include "engine/world/world.h"

namespace gauntlet {

class FiniteScan;

// A block is a quarter of the file, rounded up to a multiple of 4 KiB, and at
// most 1 MiB. So even a small file has several blocks, and a fault can tear it
// in the middle.
inline constexpr uint64_t kBlockGranule = uint64_t{4} << 10;
inline constexpr uint64_t kMaxBlock = uint64_t{1} << 20;
uint64_t BlockSize(uint64_t file_bytes);

enum class SyncFile : uint8_t { kYes, kNo };

struct WritePlan {
  OpenMode mode = OpenMode::kCreateExclusive;
  std::optional<Point> write_point;  // reached before each block
  std::optional<Point> sync_point;   // reached before the sync
  SyncFile sync = SyncFile::kYes;
  uint64_t step = 0;
  uint64_t epoch = 0;
  FiniteScan* scan = nullptr;  // receives each block; may be null
  TimeSplit* times = nullptr;  // receives kWrite, kDigest, kSync; may be null
};

struct WrittenFile {
  uint64_t bytes = 0;
  Digest digest;
};

// Writes the parts one after another and syncs the file, but not its directory.
// Returns the first error of the storage or of a fault point: the file is then
// unusable.
Result<WrittenFile> WriteInBlocks(
    World& world, const std::string& path,
    std::span<const std::span<const std::byte>> parts, const WritePlan& plan);
Result<WrittenFile> WriteInBlocks(World& world, const std::string& path,
                                  std::string_view text, const WritePlan& plan);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_BLOCK_WRITER_H_
