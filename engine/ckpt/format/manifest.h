// A checkpoint's manifest, in memory; its encoding is in manifest_format.h.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_MANIFEST_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_MANIFEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/format/claim.h"

namespace gauntlet {

struct Manifest {
  CheckpointHead head;
  Digest job_digest;
  uint64_t numerics_version = 0;
  uint64_t generation = 0;
  std::optional<ParentRecord> parent;  // nullopt: a cold start
  int64_t written_at = 0;
  std::optional<RetentionMark> mark;
  std::vector<ShardFile> files;  // shards and index
};

std::string EncodeManifest(const Manifest& manifest);
// Returns kDataLoss if the bytes differ from what was written, or name files
// outside the directory; kFailedPrecondition if they are intact but of another
// schema.
Result<Manifest> ParseManifest(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_MANIFEST_H_
