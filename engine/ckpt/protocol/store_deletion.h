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
// else is in it. Returns Ok if the directory is missing. The order of deletions
// is such that a crash leaves either nothing or the newest checkpoint, whose
// manifest suffices to find the lineage. Errors are those of CheckOwner if
// there is an owner.
Status DeleteStore(World& world, const std::string& directory,
                   const std::optional<ClaimRecord>& owner);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_DELETION_H_
