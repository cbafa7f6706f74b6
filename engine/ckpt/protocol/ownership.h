// Ownership of a checkpoint directory: its claims show who owns it.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_OWNERSHIP_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_OWNERSHIP_H_

#include <string>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/format/claim.h"
#include "engine/ckpt/protocol/store_scan.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Returns a name for a new launch that compares greater than the names of all
// launches that have claimed in the directory.
Result<std::string> MakeLaunchName(World& world, const std::string& directory);

// Called before a claim. Returns kInvalidArgument if the highest generation in
// the directory is so large that no number is left for the next one. No run
// reaches such a number, so a run did not create the entry that has it. The
// message names the entry.
Status CheckNextGeneration(const StoreScan& scan, const std::string& directory);

// Called before a claim. Returns kFailedPrecondition, a permanent error, if a
// later launch has claimed the store, or if this launch's claims are gone.
Status CheckLaunchHold(const StoreScan& scan, const StoreOptions& options);

// Called after a claim. Returns Ok if the claim `own` is still the newest.
// kFenced: there is a higher claim; a worker that is not stale may claim again.
// kFailedPrecondition, permanent: the claim is gone or has been replaced,
// because the store was deleted (and perhaps created again) meanwhile. After
// other errors it is unknown who owns the directory.
Status CheckOwner(World& world, const std::string& directory,
                  const ClaimRecord& own);

// Returns kFenced, and emits kFencedOut, if there is a claim above
// `generation`. After other errors it is unknown who owns the directory.
Status CheckNotFenced(World& world, const std::string& directory,
                      uint64_t generation);

// Emits kFencedOut and returns kFenced for the claim `higher`, which the caller
// has found.
Status FencedBy(World& world, uint64_t generation, uint64_t higher);

// Creates and removes a file, so that the next listing on this host is current.
// A host may cache the listing of a directory on a file server until the host
// itself changes the directory. REQUIRES: `generation` is claimed.
Status RefreshListing(World& world, const std::string& directory,
                      uint64_t generation);

// Called by the ranks other than the chief, once they have received the
// generation that the chief claimed. Returns Ok if this rank sees the claim,
// and so uses the same directory. A file server may show the claim late, so
// this function polls until `deadline`. Each time it calls RefreshListing:
// otherwise the host's listing may stay outdated for longer (acdirmax of NFS: a
// minute). kInvalidArgument: the claim is missing, so the workers do not share
// the directory. kFenced: there is a higher claim. Other errors come from the
// disk.
Status WaitUntilClaimVisible(World& world, const std::string& directory,
                             uint64_t generation, Time deadline);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_OWNERSHIP_H_
