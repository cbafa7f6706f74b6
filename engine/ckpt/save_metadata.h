// The last files of a save: what its shards are checked against.
#ifndef GAUNTLET_ENGINE_CKPT_SAVE_METADATA_H_
#define GAUNTLET_ENGINE_CKPT_SAVE_METADATA_H_

#include <span>
#include <string>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/ckpt/claim.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Writes and syncs the index and the manifest into the save's directory `path`;
// `claim` is the writer's.
Status WriteMetadata(World& world, const std::string& path,
                     const ClaimRecord& claim, const CheckpointHead& head,
                     std::span<const ShardFile> shards);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_SAVE_METADATA_H_
