// Ownership of a checkpoint directory, as its claims show it.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_OWNERSHIP_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_OWNERSHIP_H_

#include <string>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/format/claim.h"
#include "engine/ckpt/protocol/store_scan.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Returns a name for a new launch, larger than those of all launches that have
// claimed in the directory.
Result<std::string> MakeLaunchName(World& world, const std::string& directory);

// Called before a claim. Returns kInvalidArgument if the highest generation in
// the directory is so large that no number is left for the next one. No run
// reaches such a number, so somebody else created the entry; the message names
// it.
Status CheckNextGeneration(const StoreScan& scan, const std::string& directory);

// Called before a claim. Returns kFailedPrecondition, a permanent error, if a
// later launch has claimed the store, or if this launch's claims are gone.
Status CheckLaunchHold(const StoreScan& scan, const StoreOptions& options);

// Called after a claim. Returns Ok if the claim `own` is still the newest.
// kFenced: there is a higher claim; a worker that is still wanted may claim
// again. kFailedPrecondition, permanent: the claim is gone or has been
// replaced, because the store was deleted (and perhaps created again)
// meanwhile. After other errors the owner is unknown.
Status CheckOwner(World& world, const std::string& directory,
                  const ClaimRecord& own);

// Returns kFenced, and emits kFencedOut, if there is a claim above
// `generation`. After other errors the owner is unknown.
Status CheckNotFenced(World& world, const std::string& directory,
                      uint64_t generation);

// Emits the same event and returns the same error, for a known `higher` claim.
Status FencedBy(World& world, uint64_t generation, uint64_t higher);

// Changes the directory, so that the next listing on this host is current: a
// host caches the listing of a directory on a file server until it changes the
// directory itself. REQUIRES: `generation` is claimed.
Status ListAnew(World& world, const std::string& directory,
                uint64_t generation);

// Called by the other ranks once the chief has sent the generation that it
// claimed. Returns Ok if this rank sees the claim, and so has the same
// directory. A file server may show the claim late: polls until `deadline`, and
// changes the directory meanwhile, as the host's listing may otherwise stay
// outdated for longer (acdirmax of NFS: a minute). kInvalidArgument: the claim
// is missing, so the workers do not share the directory. kFenced: there is a
// higher claim. Other errors come from the disk.
Status WaitUntilClaimVisible(World& world, const std::string& directory,
                             uint64_t generation, Time deadline);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_OWNERSHIP_H_
