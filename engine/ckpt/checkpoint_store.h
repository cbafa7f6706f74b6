// A directory of checkpoints that survives crashes, power losses and stale
// workers: an acknowledged checkpoint is found again, a torn one is never read.
//
// One directory belongs to one generation of the cluster at a time. The chief
// claims the next generation, and the claim chooses the checkpoint to resume
// from. All ranks load that one and write their shards of later ones; the chief
// commits each with a single rename. Byte formats are in format/.
#ifndef GAUNTLET_ENGINE_CKPT_CHECKPOINT_STORE_H_
#define GAUNTLET_ENGINE_CKPT_CHECKPOINT_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/format/claim.h"
#include "engine/digest.h"
#include "engine/status.h"
#include "engine/tensor.h"
#include "engine/world/world.h"

namespace gauntlet {

class CheckpointStore {
 public:
  // Makes the directory (and syncs every new ancestor's parent) where it is
  // missing, unless this launch has claimed in it before. Reads nothing
  // yet.
  static Result<CheckpointStore> Open(World& world,
                                      const StoreOptions& options);

  // Chief only, before any other write. Claims the next generation, lists the
  // store, takes the newest checkpoint of the lineage that verifies (setting
  // aside the ones that do not) and records it in the claim; clears what
  // interrupted saves and deletions left. The checkpoint keeps its name.
  // kFailedPrecondition: there are checkpoints and none is valid (exit 7;
  // unless cold_start allows it; a warning where the state is in memory); or a
  // later launch has claimed the store, or it was deleted since this
  // launch claimed in it. kOtherJob: they are of another job: says what
  // differs. kInvalidArgument: the state file was edited to something that is
  // not there, or cannot be understood. kFenced: a higher claim came in
  // between. kIoError: the disk does not read, which is no reason to give a
  // checkpoint up. After an error the store is as it was, but for a claim that
  // counts for nothing, or that a later claim follows. An edit of the state
  // file that was obeyed has to be replaced: any error of that fails the claim.
  Result<Claim> ClaimGeneration(const std::string& job_json,
                                StateInMemory memory = StateInMemory::kNone);

  // Any rank. Reads and verifies every byte, unless this process's claim has
  // just done so: its bytes are kept for the first load of the parent.
  // kDataLoss names the file and how it differs; kNotFound: retired meanwhile.
  Result<LoadedCheckpoint> Load(const CheckpointRef& ref);

  // Chief: makes the directory for a save of this step and returns its name,
  // to be told to all ranks. nullopt: a committed checkpoint of this step,
  // phase and state digest is there and verifies, nothing is to be done.
  // kFailedPrecondition: one of this step with another digest is there, which
  // is nondeterminism and must stop the run.
  Result<std::optional<std::string>> BeginSave(const CheckpointHead& head,
                                               uint64_t generation);

  // Any rank: writes and syncs shard `index` of `count` in that directory.
  // `times` is of the calling task; may be null.
  Result<ShardFile> WriteShard(const std::string& save, int index, int count,
                               std::span<const TensorView> tensors,
                               TimeSplit* times = nullptr);

  // Chief: index, manifest, the rename that commits, the state file, retention.
  // An error means that the save failed; its remains are removed now or, if
  // that fails too, with a later save. kFenced: a newer generation owns the
  // directory; stop and write nothing. kFailedPrecondition: the store was
  // deleted while this process ran, and may have been created again. A failure
  // after the acknowledgement (state file, retention) is a warning.
  Result<CheckpointRef> Commit(const std::string& save,
                               const CheckpointHead& head, uint64_t generation,
                               std::span<const ShardFile> shards,
                               TimeSplit* times = nullptr);

  // Chief, after a save that failed for want of room: removes the oldest
  // checkpoint that recovery does not need. Needed are the newest one that
  // verifies, and those kept for good. Returns false if nothing was deleted.
  Result<bool> FreeRoom();

  // Chief: removes what a failed save left; `why` is for the event.
  Status AbandonSave(const std::string& save,
                     const Status& why = Unavailable("abandoned"));

  // Chief: deletes every checkpoint, claim and state file of a finished run,
  // then the directory if nothing else is in it. A missing one is fine.
  Status DeleteAll();

  // Checkpoints that this process has claimed and saved, oldest first; empty
  // except on the chief.
  std::span<const CommittedCheckpoint> lineage() const { return lineage_; }

  // The full path of a checkpoint.
  std::string PathOf(const CheckpointRef& ref) const;

  // Returns the harmless failures since the last call (a state file, a
  // retirement), one line each, for display.
  std::vector<std::string> TakeWarnings();

 private:
  CheckpointStore(World& world, StoreOptions options);

  std::string PathOf(std::string_view name) const;
  Result<LoadedCheckpoint> TakeVerified(const CheckpointRef& ref);
  Result<std::optional<CheckpointName>> NameForSave(const CheckpointHead& head,
                                                    uint64_t generation);
  Status ClearForSave(const std::string& save);
  Result<CommittedCheckpoint> TryCommit(const std::string& save,
                                        const CheckpointRef& ref,
                                        const CheckpointHead& head,
                                        std::span<const ShardFile> shards);
  Status PublishSave(const std::string& save, const CheckpointRef& ref,
                     const CheckpointHead& head);
  Status FailSave(const std::string& save, const Status& why);
  Status RemoveFailedSave(const std::string& save);
  Status AfterCommit(const CheckpointHead& head, TimeSplit* times);
  Status WriteStateFile(const PointContext& context);
  void WarnOfEdit();
  Status Retire();
  Status Warn(const Status& status);
  void Remember(const Status& status);

  World* world_;
  StoreOptions options_;
  std::optional<ClaimRecord> record_;         // claim of this process
  std::vector<CommittedCheckpoint> lineage_;  // oldest first
  // The parent as the claim verified it, until it is loaded or a save begins.
  std::optional<LoadedCheckpoint> verified_parent_;
  std::vector<std::string> pending_cleanup_;  // failed saves, not yet removed
  std::optional<std::string> save_;           // begun and not yet ended
  std::string state_text_;  // state file as last written; "": not yet
  std::vector<std::string> warnings_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_CHECKPOINT_STORE_H_
