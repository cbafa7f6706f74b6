// Writes the last files of a save: the index and the manifest. A load verifies
// the shards and the index against the manifest.
#ifndef GAUNTLET_ENGINE_CKPT_IO_SAVE_METADATA_H_
#define GAUNTLET_ENGINE_CKPT_IO_SAVE_METADATA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/format/claim.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

struct SaveMetadata {
  const ClaimRecord& claim;  // of the writer
  const CheckpointHead& head;
  std::span<const ShardFile> shards;
  int64_t written_at = 0;  // Unix seconds
  std::optional<RetentionMark> mark;
};

// Writes and syncs the index and the manifest in the save's directory `path`.
Status WriteMetadata(World& world, const std::string& path,
                     const SaveMetadata& save);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_SAVE_METADATA_H_
