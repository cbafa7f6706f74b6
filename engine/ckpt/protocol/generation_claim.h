// The chief's way to the next generation: claim, choose, record, tidy.
//
// The order is the protocol. The claim is durable before the directory is
// listed, and the parent is recorded before anything else is written or
// deleted. So either a new generation sees what an old one committed, or the
// old one finds the new claim before it acknowledges. Likewise for removals:
// either the new generation does not see the checkpoint, or the old one finds
// the claim before it deletes a file (removal.h). No checkpoint changes its
// name.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_GENERATION_CLAIM_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_GENERATION_CLAIM_H_

#include <string>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/protocol/parent_choice.h"
#include "engine/ckpt/protocol/store_scan.h"

namespace gauntlet {

inline constexpr size_t kKeptRejected = 4;  // checkpoints, as evidence
inline constexpr size_t kKeptFenced = 8;

// Creates gen-N, N above every generation in any name of the directory, and
// makes it durable. Returns N. Errors like CheckNextGeneration and
// CheckLaunchHold.
Result<uint64_t> CreateClaim(World& world, const StoreOptions& options);

// A claim with its parent on disk.
struct RecordedClaim {
  ClaimRecord record;
  std::optional<CheckpointRef> parent;
  std::vector<CommittedCheckpoint> lineage;  // oldest first, parent last
  StoreScan scan;
  ParentChoice choice;
};

// Chooses and records the parent of `generation`. Renames back first what stale
// workers have taken away from under it (PutBackTaken). kFenced: there is a
// higher claim. Other errors like ChooseParent.
Result<RecordedClaim> RecordParent(World& world, const StoreOptions& options,
                                   uint64_t generation,
                                   const std::string& job_json);

// Sets rejected checkpoints aside, reports fenced ones, and removes what older
// generations left: unfinished saves and deletions, temporary files, evidence
// beyond what is kept, and claims that no lineage needs any more. Returns what
// went wrong and does no harm, a line each; a Status only if the process is to
// stop.
//
// A claim is needed if it is the newest or stands in the chain of the present
// lineage (lineage.h) not below the writer of its oldest checkpoint. Others may
// go: numbers are taken from above the newest, an old survivor is fenced by the
// newest alone, and a claim that such a survivor puts back by recording its
// parent late stands beside the chain.
Result<std::vector<std::string>> CollectGarbage(World& world,
                                                const StoreOptions& options,
                                                const RecordedClaim& claim);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_GENERATION_CLAIM_H_
