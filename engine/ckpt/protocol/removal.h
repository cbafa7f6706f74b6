// Takes checkpoints out of a directory: by a rename first, so that none is ever
// seen half deleted and of two workers that want one only one gets it.
//
// A stale worker destroys nothing that a newer generation counts on. A removal
// renames the checkpoint, then lists the claims, and deletes files only if no
// claim is newer than its own. A claim is made before its generation lists the
// directory. So if that listing shows the checkpoint, the rename came after the
// claim: the remover finds the claim and renames the checkpoint back. If it
// dies in between, PutBackTaken does that.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_REMOVAL_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_REMOVAL_H_

#include <cstdint>
#include <set>
#include <string>

#include "engine/ckpt/format/claim.h"
#include "engine/ckpt/protocol/store_scan.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Renames directory/name to its DeletingName and removes that, for the
// generation of the claim `owner`. kNotFound: it was taken before, by another
// worker or by a removal that met an error; what that one left is removed too.
// Errors like CheckOwner, and any that keep it from looking for newer claims:
// the checkpoint has its name again.
Status RemoveCheckpoint(World& world, const std::string& directory,
                        const std::string& name, const ClaimRecord& owner);

// The same where the whole store is deleted, claims included: looks for none.
Status DeleteCheckpoint(World& world, const std::string& directory,
                        const std::string& name, uint64_t generation);

// Removes what an interrupted removal left, an entry of kDeleting of the scan,
// for the generation of `owner`. Takes it over by a rename first: a remover
// that is still there must not bring back a part of it. If that one has brought
// it back already, removes the checkpoint, unless the scan lists it beside the
// entry. Errors like RemoveCheckpoint.
Status FinishRemoval(World& world, const std::string& directory,
                     const StoreScan& scan, const ScannedEntry& entry,
                     const ClaimRecord& owner);

// Renames back the checkpoints that stale workers took away from under a newer
// generation: those that a claim newer than the remover's records as its
// parent, and those in `listed`, which the claimant `generation` has listed
// itself. Only such that verify: none is worse off than before. Returns true if
// any came back; then the scan is out of date.
Result<bool> PutBackTaken(World& world, const std::string& directory,
                          const StoreScan& scan, uint64_t generation,
                          const std::set<std::string>& listed);

// Renames directory/name to rejected-name, evidence for people. Errors like
// RemoveCheckpoint.
Status SetAside(World& world, const std::string& directory,
                const std::string& name, const ClaimRecord& owner);

// Emits that the checkpoint at `path` failed verification, as soon as that is
// found: a crash may come before it is set aside.
void EmitRejected(World& world, const std::string& path,
                  const std::string& reason);

// Removes a file, or a directory and what is in it; a missing one is fine.
// Reaches kRetireRemove before each removal.
Status RemoveTree(World& world, const std::string& path, FileKind kind);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_REMOVAL_H_
