// Deletion of a checkpoint store whose run has finished.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_DELETION_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_DELETION_H_

#include <optional>
#include <string>

#include "engine/ckpt/format/claim.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Deletes every checkpoint, claim and state file, then the directory if nothing
// else is in it. Returns Ok if the directory is missing. The newest checkpoint
// is deleted last. So after a crash, either it still exists, and its manifest
// suffices to find the lineage, or no checkpoint exists. Errors are those of
// CheckOwner if there is an owner.
Status DeleteStore(World& world, const std::string& directory,
                   const std::optional<ClaimRecord>& owner);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_DELETION_H_
