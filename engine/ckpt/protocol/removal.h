// Removes checkpoints from a directory. Each is renamed first, so that no
// reader sees a partly deleted checkpoint, and only one of two competing
// workers deletes it.
//
// A stale worker never destroys a checkpoint that a newer generation needs. A
// removal renames the checkpoint, then lists the claims, and deletes files only
// if no claim is newer than its own. A newer generation claims before it lists
// the directory. So if its listing shows the checkpoint, the rename came after
// the newer claim: the remover finds that claim, and renames the checkpoint
// back. If the remover dies before that, UndoStaleRemovals renames it back.
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

// Renames directory/name to its DeletingName and deletes the renamed directory,
// on behalf of the claim `owner`. Checks the claims before and after the
// rename. If the second check fails, renames the checkpoint back. Returns the
// errors of these checks (CheckOwner). kNotFound: there is no such name, as
// another worker or an earlier removal has renamed the checkpoint. If an
// earlier removal by this generation renamed it, the files that were left are
// now deleted. Other errors come from the disk; the checkpoint may then be
// renamed and partly deleted.
Status RemoveCheckpoint(World& world, const std::string& directory,
                        const std::string& name, const ClaimRecord& owner);

// As RemoveCheckpoint, for the deletion of the entire store: does not check the
// claims.
Status DeleteCheckpoint(World& world, const std::string& directory,
                        const std::string& name, uint64_t generation);

// Completes an interrupted removal, a kDeleting entry of the scan, on behalf of
// the claim `owner`. First renames the entry to `owner`'s own DeletingName, so
// that the first remover, if it is still running, cannot rename a partly
// deleted checkpoint back. If the first remover has already renamed the
// checkpoint back, removes the checkpoint. Exception: if the scan lists both
// the entry and the checkpoint, keeps the checkpoint and returns kNotFound.
// Other errors are those of RemoveCheckpoint.
Status FinishRemoval(World& world, const std::string& directory,
                     const StoreScan& scan, const ScannedEntry& entry,
                     const ClaimRecord& owner);

// Stale workers rename a checkpoint before they delete it. UndoStaleRemovals
// renames a checkpoint back if a newer generation may need it: a claim newer
// than that of the remover names the checkpoint as its parent, or the
// checkpoint is in `listed`. These are the names that the claimant of
// `generation` has seen. A checkpoint that does not verify is left as it is.
// Returns true if the directory has changed, so that it must be scanned again.
Result<bool> UndoStaleRemovals(World& world, const std::string& directory,
                               const StoreScan& scan, uint64_t generation,
                               const std::set<std::string>& listed);

// Renames directory/name to rejected-name, so that people can inspect it.
// Errors are those of RemoveCheckpoint.
Status SetAside(World& world, const std::string& directory,
                const std::string& name, const ClaimRecord& owner);

// Emits that the checkpoint at `path` failed verification. Called as soon as
// the failure is known, because the process may crash before it sets the
// checkpoint aside.
void EmitRejected(World& world, const std::string& path,
                  const std::string& reason);

// Removes a file, or a directory with its contents. Returns Ok if it does not
// exist. The fault point kRetireRemove occurs before each removal.
Status RemoveTree(World& world, const std::string& path, FileKind kind);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_REMOVAL_H_
