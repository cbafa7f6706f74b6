// Removes checkpoints from a directory. Each is renamed first, so that no
// reader sees a partly deleted one, and that only one of two competing workers
// gets it.
//
// A stale worker never destroys what a newer generation needs. A removal
// renames the checkpoint, then lists the claims, and deletes files only if no
// claim is newer than its own. A claim is made before its generation lists the
// directory. So if that listing shows the checkpoint, the rename came after the
// claim: the remover finds the claim and renames the checkpoint back. If the
// remover dies in between, PutBackTaken does that.
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

// Renames directory/name to its DeletingName and removes that, on behalf of the
// claim `owner`. kNotFound: another worker, or an earlier removal that failed,
// took it before; the remains of this generation's own removal are removed too.
// Other errors are those of CheckOwner, and any that prevent the check for
// newer claims; the checkpoint then has its name again.
Status RemoveCheckpoint(World& world, const std::string& directory,
                        const std::string& name, const ClaimRecord& owner);

// As RemoveCheckpoint, when the entire store is deleted: does not check the
// claims.
Status DeleteCheckpoint(World& world, const std::string& directory,
                        const std::string& name, uint64_t generation);

// Completes an interrupted removal, a kDeleting entry of the scan, on behalf of
// the claim `owner`. Renames the entry to `owner`'s own DeletingName first, so
// that a remover that is still running cannot bring back a part of it. If that
// remover has already brought the checkpoint back, removes the checkpoint,
// unless the scan lists it in addition to the entry. Errors are those of
// RemoveCheckpoint.
Status FinishRemoval(World& world, const std::string& directory,
                     const StoreScan& scan, const ScannedEntry& entry,
                     const ClaimRecord& owner);

// Renames back the checkpoints that stale workers took from a newer generation:
// those that a claim newer than the remover's records as its parent, and those
// in `listed`, which the claimant of `generation` has listed itself. Only
// checkpoints that verify are renamed. Returns true if any was; then the scan
// is outdated.
Result<bool> PutBackTaken(World& world, const std::string& directory,
                          const StoreScan& scan, uint64_t generation,
                          const std::set<std::string>& listed);

// Renames directory/name to rejected-name, as evidence for people. Errors are
// those of RemoveCheckpoint.
Status SetAside(World& world, const std::string& directory,
                const std::string& name, const ClaimRecord& owner);

// Emits that the checkpoint at `path` failed verification. Called immediately,
// as a crash may come before the checkpoint is set aside.
void EmitRejected(World& world, const std::string& path,
                  const std::string& reason);

// Removes a file, or a directory with its contents. Returns Ok if it does not
// exist. Reaches kRetireRemove before each removal.
Status RemoveTree(World& world, const std::string& path, FileKind kind);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_REMOVAL_H_
