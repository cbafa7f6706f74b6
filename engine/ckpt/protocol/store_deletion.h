// The end of a checkpoint store whose run is finished.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_DELETION_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_DELETION_H_

#include <optional>
#include <string>

#include "engine/ckpt/format/claim.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Deletes every checkpoint, claim and state file, then the directory if nothing
// else is in it, in an order in which a crash leaves either the newest
// checkpoint, which then stands for its lineage by its manifest alone, or
// nothing. A missing directory is fine. Errors like CheckOwner where there is
// an owner.
Status DeleteStore(World& world, const std::string& directory,
                   const std::optional<ClaimRecord>& owner);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_DELETION_H_
