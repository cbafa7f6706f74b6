// Whose a checkpoint directory is, by the claims in it.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_OWNERSHIP_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_OWNERSHIP_H_

#include <string>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/format/claim.h"
#include "engine/ckpt/protocol/store_scan.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// A name for a launch that begins now: later than those of all launches that
// have claimed in the directory.
Result<std::string> MakeLaunchName(World& world, const std::string& directory);

// Before a claim: kInvalidArgument if no number is left for the next
// generation, as one near the end of the range is taken. Numbers only rise, so
// no run has come that far: somebody else made the entry, which is named.
Status CheckNextGeneration(const StoreScan& scan, const std::string& directory);

// Before a claim: whether this launch may claim at all.
// kFailedPrecondition, for good: a later launch has claimed the store, or what
// this one claimed in it is gone.
Status CheckLaunchHold(const StoreScan& scan, const StoreOptions& options);

// After it: whether the claim `own` is still the newest. kFenced: there is a
// higher one; whoever is still asked for may claim anew. kFailedPrecondition,
// for good: the claim is gone or another's, as the store was deleted (and begun
// anew) under its owner. Other errors say nothing of it.
Status CheckOwner(World& world, const std::string& directory,
                  const ClaimRecord& own);

// Fails if a claim is higher than `generation`: kFenced, and emits kFencedOut.
// Other errors say nothing of it.
Status CheckNotFenced(World& world, const std::string& directory,
                      uint64_t generation);

// The same error and event for a `higher` claim that is known already.
Status FencedBy(World& world, uint64_t generation, uint64_t higher);

// Changes the directory, so that this host's next listing of it is the present
// one: a host goes by the listing of a file server's directory that it has
// until it changes the directory itself. REQUIRES: `generation` is claimed.
Status ListAnew(World& world, const std::string& directory,
                uint64_t generation);

// Any other rank, once the chief has told it what it claimed: whether this rank
// looks at the same directory. A file server may show the claim late, so it is
// looked for until `deadline`, and the directory is changed where it does not
// show: until then the host's own view may be older than that (acdirmax of NFS:
// a minute). kInvalidArgument: the claim is not there, the workers do not share
// the directory. kFenced: there is a higher one. Other errors are the disk's.
Status WaitUntilClaimVisible(World& world, const std::string& directory,
                             uint64_t generation, Time deadline);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_OWNERSHIP_H_
