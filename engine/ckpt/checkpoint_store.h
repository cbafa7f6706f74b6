// A directory of checkpoints that survives crashes, power losses and stale
// workers. An acknowledged checkpoint can be loaded later. An incomplete one is
// never loaded.
//
// One directory belongs to one generation of the cluster at a time. The chief
// claims the next generation, and the claim chooses the checkpoint to resume
// from. All ranks load this checkpoint, and write their shards of later ones;
// the chief commits each later checkpoint with a single rename. Byte formats
// are in format/.
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
  // Creates the directory if it is missing, and syncs the parent of each
  // directory created. Creates nothing if this launch has already claimed a
  // generation in the directory. Reads nothing.
  static Result<CheckpointStore> Open(World& world,
                                      const StoreOptions& options);

  // Called by the chief, before any other write. Claims the next generation,
  // scans the store, and chooses the newest checkpoint of the lineage that
  // verifies; the checkpoint keeps its name. Records the choice in the claim.
  // Then cleans up: sets aside damaged checkpoints that are newer than the
  // chosen one, removes the remains of interrupted saves and removals, writes
  // the state file, and applies retention.
  // - kFailedPrecondition (exit 7): there are checkpoints but none is valid,
  //   and StoreOptions::cold_start does not allow a cold start. (With
  //   StateInMemory::kHeld this is only a warning, if the name of a checkpoint
  //   is known.) Or a later launch has claimed the store. Or the store was
  //   deleted after this launch had claimed a generation in it.
  // - kOtherJob: the checkpoints are of another job; the message has the
  //   differences.
  // - kInvalidArgument: the state file was edited, and names no existing
  //   checkpoint or cannot be parsed.
  // - kFenced: a higher claim was made meanwhile.
  // - kIoError: the disk cannot be read. No checkpoint is rejected for this
  //   reason.
  // - kResourceExhausted, kForbidden: disk space or permission is missing for
  //   the claim.
  // - Any error of writing the state file, if an edit of that file chose the
  //   parent. Until the file is replaced, every start would apply the edit
  //   again.
  // After an error the new claim may remain in the store. If its parent is
  // recorded, the next claim resumes from its lineage, and a part of the
  // cleanup may be done. If not, it has no effect, and nothing was removed.
  //
  // The chosen checkpoint is read into `places`, which must outlive the first
  // Load of that checkpoint. If the claim fails or there is no parent, the
  // bytes in `places` are undefined.
  Result<Claim> ClaimGeneration(const std::string& job_json,
                                StateInMemory memory = StateInMemory::kNone,
                                const TensorPlaces& places = {});

  // Called by any rank. Reads and verifies every byte. Exception: after a claim
  // with StateInMemory::kNone, the first load of the parent in this process
  // reads nothing and ignores its `places`. It returns the bytes that
  // ClaimGeneration read into the `places` that it had got.
  // kDataLoss: the checkpoint is damaged; the message names the file and the
  // difference. kNotFound: the checkpoint was removed meanwhile.
  Result<LoadedCheckpoint> Load(const CheckpointRef& ref,
                                const TensorPlaces& places = {});

  // Called by the chief. Creates the directory of a save of this step, and
  // returns its name, which all ranks need. Returns nullopt if no save is
  // needed: a committed checkpoint of this step, phase and state digest exists
  // and verifies. kFailedPrecondition: a checkpoint of this step and phase has
  // another digest; this is nondeterminism, and the run must stop.
  Result<std::optional<std::string>> BeginSave(const CheckpointHead& head,
                                               uint64_t generation);

  // Called by any rank. Writes and syncs shard `index` of `count` in the save's
  // directory. `times` may be null; only the calling task may use it.
  Result<ShardFile> WriteShard(const std::string& save, int index, int count,
                               std::span<const TensorView> tensors,
                               TimeSplit* times = nullptr);

  // Called by the chief. Writes index and manifest, renames the directory (the
  // commit point), and syncs its parent. Acknowledges the save if this process
  // still owns the store. An error means that the save has failed. Commit then
  // removes the files of the save; if that fails, a later save removes them.
  // kFenced: a newer generation owns the directory; this process must stop, and
  // write nothing. kFailedPrecondition: the store was deleted while this
  // process ran, and may have been created again.
  Result<CheckpointRef> Commit(const std::string& save,
                               const CheckpointHead& head, uint64_t generation,
                               std::span<const ShardFile> shards,
                               TimeSplit* times = nullptr);

  // Called by the chief after Commit, before any other use of the store. Writes
  // the state file, which lists the checkpoints that retention keeps, and
  // removes the others. The new checkpoint stays acknowledged whatever happens
  // here. Failures become warnings. Exception: after kFenced or kCancelled,
  // this process must stop. If this call is omitted or fails, no checkpoint is
  // lost, and the next claim makes up for it.
  Status RetireOldCheckpoints(const CheckpointHead& head,
                              TimeSplit* times = nullptr);

  // Called by the chief after a save has failed for lack of disk space. Removes
  // the oldest checkpoint that is neither permanent nor needed for recovery
  // (FindOldestRemovable). Returns false if nothing was removed.
  Result<bool> FreeSpace();

  // Called by the chief. Removes the files of a failed save. `why` is recorded
  // in the event.
  Status AbortSave(const std::string& save,
                   const Status& why = Unavailable("aborted"));

  // Called by the chief. Deletes every checkpoint, claim and state file of a
  // finished run, then the directory if nothing else is in it. Returns Ok if
  // the directory is missing.
  Status DeleteAll();

  // Valid checkpoints, oldest first: those that this process's claim found, and
  // those that this process has saved since. Empty on ranks other than the
  // chief.
  std::span<const CommittedCheckpoint> lineage() const { return lineage_; }

  // Returns the full path of a checkpoint.
  std::string PathOf(const CheckpointRef& ref) const;

  // Returns one line, to display, for each harmless failure since the last
  // call, such as a state file that could not be written.
  std::vector<std::string> TakeWarnings();

 private:
  CheckpointStore(World& world, StoreOptions options);

  std::string PathOf(std::string_view name) const;
  Result<LoadedCheckpoint> TakeVerified(const CheckpointRef& ref,
                                        const TensorPlaces& places);
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
  Status WriteStateFile(const PointContext& context);
  void WarnOfEdit();
  Status ApplyRetention();
  Status Warn(const Status& status);
  void AddWarning(const Status& status);

  World* world_;
  StoreOptions options_;
  std::optional<ClaimRecord> record_;         // claim of this process
  std::vector<CommittedCheckpoint> lineage_;  // oldest first
  // Contents of the parent, read by the claim; kept until the first load of the
  // parent, or the next save.
  std::optional<LoadedCheckpoint> verified_parent_;
  std::vector<std::string> pending_cleanup_;  // failed saves, not yet removed
  std::optional<std::string> save_;           // in progress
  // State file as this process last wrote it; "": not written yet.
  std::string state_text_;
  std::vector<std::string> warnings_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_CHECKPOINT_STORE_H_
