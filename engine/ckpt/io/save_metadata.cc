#include "engine/ckpt/io/save_metadata.h"

#include "engine/ckpt/format/manifest.h"
#include "engine/ckpt/format/shard_index.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/block_writer.h"
#include "engine/job/job.h"
#include "engine/numerics.h"

namespace gauntlet {

Status WriteMetadata(World& world, const std::string& path,
                     const SaveMetadata& save) {
  const CheckpointHead& head = save.head;
  const std::string index = EncodeShardIndex(save.shards);
  ASSIGN_OR_RETURN(
      const WrittenFile written,
      WriteInBlocks(world, path + "/" + std::string(kIndexName), index,
                    {.write_point = Point::kIndexWrite,
                     .sync_point = {},
                     .step = head.step,
                     .epoch = head.epoch}));
  Manifest manifest{.head = head,
                    .job_digest = JobDigest(head.job_json),
                    .numerics_version = numerics::kVersion,
                    .generation = save.claim.generation,
                    .parent = {},
                    .written_at = save.written_at,
                    .mark = save.mark,
                    .files = {save.shards.begin(), save.shards.end()}};
  if (save.claim.state == ParentState::kRecorded) {
    manifest.parent = save.claim.parent;
  }
  manifest.files.push_back({.name = std::string(kIndexName),
                            .bytes = written.bytes,
                            .digest = written.digest,
                            .tensors = {}});
  const std::string text = EncodeManifest(manifest);
  // Parses the manifest before it is written. A manifest with an error must not
  // be committed: for example, one that lists a shard twice, or not at all.
  RETURN_IF_ERROR(Annotate(ParseManifest(text).status(), path));
  return WriteInBlocks(
             world, path + "/" + std::string(kManifestName), text,
             {.write_point = Point::kManifestWrite,
              .sync_point = Point::kManifestSync,
              .sync = world.faults.Planted(PlantedBug::kSkipManifestSync)
                          ? SyncFile::kNo
                          : SyncFile::kYes,
              .step = head.step,
              .epoch = head.epoch})
      .status();
}

}  // namespace gauntlet
