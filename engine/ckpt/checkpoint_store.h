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

#include "engine/ckpt/format/claim.h"
#include "engine/ckpt/format/name_list.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/digest.h"
#include "engine/status.h"
#include "engine/tensor.h"
#include "engine/world/world.h"

namespace gauntlet {

// Action of a claim if there are checkpoints and none is valid. kFromMemory:
// workers hold the state, so nothing starts afresh. The lost checkpoint is
// recorded as the parent, so that no worker without that state starts afresh
// later.
enum class ColdStart : uint8_t { kRefuse, kAllow, kFromMemory };

// kHeld: the claiming worker holds a state in memory to resume from.
enum class StateInMemory : uint8_t { kNone, kHeld };

// A launcher's hold on the store, shared by all incarnations of its workers. Of
// two launchers that are not aware of each other, the later one keeps the
// store.
struct LaunchHold {
  // Later launches have later names (MakeLaunchName); "": no launcher.
  std::string launch;
  // Generation that an earlier incarnation of this launch claimed; 0: none is
  // known. If it and all later ones are gone, so are the checkpoints.
  uint64_t claimed = 0;

  bool operator==(const LaunchHold&) const = default;
};

struct StoreOptions {
  std::string directory;
  // Newest checkpoints that retention keeps; at least 1. It also keeps the
  // newest finite one.
  int keep = 5;
  // Retention also keeps one checkpoint per so many seconds for good; 0: none.
  int64_t keep_every_seconds = 0;
  ColdStart cold_start = ColdStart::kRefuse;
  LaunchHold launch_hold = {};
};

// Description of a checkpoint, apart from its tensors. The state digest is
// StateDigest (state_digest.h) of all tensors of all shards together: a load
// computes it again.
struct CheckpointHead {
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;
  Phase phase = Phase::kInEpoch;
  Digest state_digest;
  std::string job_json;  // canonical; its digest is the job digest
  // Set if the state or its loss is not finite: the first step of the run at
  // which one of them was not, as far as the writer knows.
  std::optional<uint64_t> not_finite_since = {};
};

// A committed checkpoint, by name.
struct CheckpointRef {
  std::string name;  // "step-000000150-g3"
  uint64_t step = 0;
  uint64_t generation = 0;
};

struct Claim {
  uint64_t generation = 0;
  std::optional<CheckpointRef> parent;  // none: a cold start
  Phase parent_phase = Phase::kInEpoch;
  Digest parent_digest;  // of the parent's state
  // There are checkpoints, and none is valid.
  bool none_is_valid = false;
};

struct LoadedCheckpoint {
  CheckpointHead head;
  std::vector<TensorView> tensors;  // in the order of their names
  std::vector<std::unique_ptr<const std::byte[]>> bytes;  // of the tensors
};

enum class RetentionClass : uint8_t { kRecent, kPermanent };

// Retention's decision at a save. Times are Unix seconds.
struct RetentionMark {
  // Time of the last earlier checkpoint that is kept for good, else of the
  // store's beginning.
  int64_t counted_from = 0;
  RetentionClass keep = RetentionClass::kRecent;
};

// A committed checkpoint, with the fields that distinguish it from others of
// its step.
struct CommittedCheckpoint {
  CheckpointRef ref;
  Phase phase = Phase::kInEpoch;
  Digest state_digest;
  uint64_t written_by = 0;            // generation
  int64_t written_at = 0;             // Unix seconds
  std::optional<RetentionMark> mark;  // none: nobody counted hours
  // CheckpointHead::not_finite_since.
  std::optional<uint64_t> not_finite_since = {};
};

// Shards of a checkpoint.
inline constexpr size_t kMaxShards = 1023;

// A shard as its writer left it, told to the chief.
struct ShardFile {
  std::string name;  // "model-00001-of-00004.safetensors"
  uint64_t bytes = 0;
  Digest digest;
  NameList tensors;
  // Its float32 tensors with values that are not finite.
  std::vector<std::string> not_finite = {};
};

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
