// The chief's steps to the next generation: create the claim, choose the
// parent, record it, collect garbage.
//
// Correctness depends on this order: the claim is durable before the directory
// is listed, and the parent is recorded before anything else is written or
// deleted. Suppose that an old generation commits a checkpoint meanwhile.
// Either the new generation sees it, or the old generation finds the new claim
// before it acknowledges the save. Suppose that an old generation removes a
// checkpoint. Either the new generation does not see it, or the old generation
// finds the new claim before it deletes a file (removal.h). The parent keeps
// its name.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_GENERATION_CLAIM_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_GENERATION_CLAIM_H_

#include <string>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/protocol/parent_choice.h"
#include "engine/ckpt/protocol/store_scan.h"

namespace gauntlet {

// Maximum numbers of rejected and of fenced checkpoints that are kept, so that
// people can inspect them.
inline constexpr size_t kKeptRejected = 4;
inline constexpr size_t kKeptFenced = 8;

// Creates the claim gen-N and makes it durable. N is greater than every
// generation in any name or manifest of the directory. Returns N. Errors are
// those of CheckNextGeneration, CheckLaunchHold and the disk. kUnavailable: at
// every try, another worker claimed the number first.
Result<uint64_t> CreateClaim(World& world, const StoreOptions& options);

// A claim whose parent is recorded on disk.
struct RecordedClaim {
  ClaimRecord record;
  std::optional<CheckpointRef> parent;
  std::vector<CommittedCheckpoint> lineage;  // oldest first, parent last
  StoreScan scan;
  ParentChoice choice;
};

// Chooses and records the parent of `generation`. Before that, renames back the
// checkpoints that stale workers had begun to remove (UndoStaleRemovals).
// kFenced: there is a higher claim. Other errors are those of ChooseParent,
// which reads the parent into `places`.
Result<RecordedClaim> RecordParent(World& world, const StoreOptions& options,
                                   uint64_t generation,
                                   const std::string& job_json,
                                   const TensorPlaces& places);

// Sets rejected checkpoints aside, and reports fenced ones. Removes the remains
// of older generations: unfinished saves and removals, temporary files,
// rejected and fenced checkpoints beyond the limits above, and claims that are
// not needed. Returns one line for each harmless failure, and an error only if
// the process must stop.
//
// The newest claim is needed. An older claim is needed if it is in the chain of
// the current lineage (lineage.h), and not older than the generation that wrote
// the oldest checkpoint of the lineage. Other claims may be removed: new
// numbers are greater than the newest claim's, and that claim alone fences
// stale workers. A stale worker may record its parent after its claim was
// removed. This creates the claim again, but outside the chain.
Result<std::vector<std::string>> CollectGarbage(World& world,
                                                const StoreOptions& options,
                                                const RecordedClaim& claim);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_GENERATION_CLAIM_H_
