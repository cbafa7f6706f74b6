// A save that all ranks make together: the first ranks write a shard each, the
// chief commits, and all wait until every rank knows the outcome. The chief
// then retires old checkpoints (CheckpointStore::RetireOldCheckpoints), usually
// in a task, the retirement, while training continues.
#ifndef GAUNTLET_ENGINE_TRAIN_SAVE_COLLECTIVE_SAVE_H_
#define GAUNTLET_ENGINE_TRAIN_SAVE_COLLECTIVE_SAVE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/cluster/ring/ring.h"
#include "engine/status.h"
#include "engine/train/background_task.h"
#include "engine/train/state/resident_state.h"
#include "engine/train/time_totals.h"
#include "engine/world/event_log.h"
#include "engine/world/time_split.h"

namespace gauntlet {

// kImmediately: training waits for the digest of the state, and the ranks
// compare digests as the save begins. kInBackground: a task computes the
// digest, and the ranks compare digests after writing.
enum class DigestTime : uint8_t { kImmediately, kInBackground };

// kImmediately: a save ends once the chief has retired old checkpoints.
// kInBackground: it ends once it is acknowledged, and a task of the chief
// retires old checkpoints.
enum class RetirementTime : uint8_t { kImmediately, kInBackground };

// A save that has begun, on one rank.
struct SaveAttempt {
  CheckpointHead head;
  DigestTime digest_time = DigestTime::kImmediately;
  // Digest of the whole state on this rank; nullopt: not computed yet.
  std::optional<Digest> state_digest;
  // Tensors that this rank writes; views into the state.
  std::vector<TensorView> own_tensors;
  int shards = 1;  // the first `shards` ranks write one each
  ExchangeKey key;
  // Name that the chief gives to the save, equal on all ranks. Empty: there is
  // nothing to save, because a checkpoint of exactly this state exists.
  std::string name;
  // Step for the manifest if a tensor of the state turns out to be not finite.
  uint64_t not_finite_since = 0;
  // True if this save could not begin for lack of disk space, and the chief has
  // then removed a checkpoint.
  bool space_freed = false;
  // Error that kept this rank from beginning. The rank still takes part in the
  // exchanges, and reports the error in them: a rank that skips an exchange
  // breaks the ring.
  Status begin_status;
};

// Shard that a rank wrote; nullopt: this rank writes none.
using WrittenPart = std::optional<ShardFile>;
inline uint64_t BytesOf(const Result<WrittenPart>& part) {
  return part.ok() && *part ? (*part)->bytes : 0;
}

// kRequired: a save was begun that will not complete, and no newer state is
// saved.
enum class SaveNeed : uint8_t { kNone, kRequired };

class CollectiveSave {
 public:
  CollectiveSave(World& world, CheckpointStore& store, Ring& ring,
                 std::string job_json, uint64_t generation, Duration timeout);

  // From now on, refuses to save a state that is not finite, or whose loss is
  // not finite (kFailedPrecondition, refused()). Call it on every rank.
  void RefuseNotFinite() { refuses_not_finite_ = true; }
  // From now on, at most `max_shards` ranks write a shard; 0: no limit. Call it
  // on every rank.
  void LimitShards(int max_shards) { max_shards_ = max_shards; }

  // Saves the state. First waits for the retirement after the previous save; if
  // that fails, returns its error. If there is no disk space, the chief removes
  // checkpoints that recovery does not need, one by one. After each removal,
  // the save is tried again. `before_try` is called before the wait and before
  // every try, because each of them may take as long as a save. With
  // `only_parameters` the checkpoint contains only the tensors of these
  // parameters (TrainState::TensorsOf); the ranks still compare the whole
  // state.
  // - Ok: committed, or already existing.
  // - Errors for which CanContinueAfter returns true: the save failed on every
  //   rank, and training may continue.
  // - kFailedPrecondition: the states of the ranks differ (the message names
  //   the ranks), or a committed checkpoint of this step has another state. The
  //   run must stop.
  // - kFenced: a newer generation owns the directory. The run must stop.
  // - kUnavailable, kDeadlineExceeded: a worker is lost.
  // REQUIRES: every rank calls it at the same boundary.
  Status Save(ResidentState& resident, RetirementTime retirement_time,
              std::span<const std::string> only_parameters = {},
              const std::function<void()>& before_try = {});

  // The steps of Save, in this order, for callers that do other work in
  // between. Steps with an exchange need every rank at the same boundary.
  //
  // Waits for the previous retirement, as Save does. Then exchanges the
  // state digests (kImmediately) and the chief's decision to begin. Does not
  // copy the state's newest values to the host.
  Result<SaveAttempt> Begin(ResidentState& resident, DigestTime digest_time);
  // Returns the tensors of the state that this rank writes.
  std::vector<TensorView> OwnPartOf(std::span<const TensorView> tensors) const;
  // Writes and syncs the tensors of this rank's part, if it writes a shard.
  // Callable from any task; `times` belongs to that task.
  Result<WrittenPart> WritePart(const SaveAttempt& attempt,
                                std::span<const TensorView> tensors,
                                TimeSplit& times);
  // Exchanges the results of all ranks, for Commit and CheckParts.
  Result<std::vector<std::string>> ExchangeParts(const SaveAttempt& attempt,
                                                 Result<WrittenPart> own);
  // Returns the error of the first rank whose part failed, or an error if the
  // ranks' states differ (kInBackground); Ok if all parts are written.
  static Status CheckParts(const SaveAttempt& attempt,
                           const std::vector<std::string>& reports);
  // First learned tensor (IsLearned) with non-finite values, as of the last
  // exchange of parts; equal on all ranks. Empty: all are finite.
  const std::string& not_finite_tensor() const { return not_finite_; }
  // Returns kFailedPrecondition if the save is refused. Call after
  // ExchangeParts.
  Status Refusal(const SaveAttempt& attempt);
  // True if the last save was refused; equal on all ranks.
  bool refused() const { return refused_; }
  // On the chief: commits the save. After success, the caller must call
  // RetireOldCheckpoints. After a failure, Commit has removed the save's
  // remains, and freed disk space if it had run out. Callable from any task
  // while no other one uses the store. `times` belongs to that task.
  Status Commit(const SaveAttempt& attempt,
                const std::vector<std::string>& reports, TimeSplit& times);
  // On the chief, after Commit. Callable from any task while no other one uses
  // the store. `times` belongs to that task.
  Status RetireOldCheckpoints(const SaveAttempt& attempt, TimeSplit& times) {
    return store_->RetireOldCheckpoints(attempt.head, &times);
  }
  // On the chief: removes the remains of a failed save, emits the reason, and
  // frees disk space if it had run out.
  Status Abort(const SaveAttempt& attempt, const Status& failure);
  // Exchanges one text per rank.
  Result<std::vector<std::string>> AllGather(const SaveAttempt& attempt,
                                             const std::string& payload);
  // Call on every rank once it knows that the outcome is Ok.
  void End(const SaveAttempt& attempt);

  // True if a task that retires old checkpoints was started and EndRetirement
  // or EndTask has not waited for it yet. Always false on other ranks than the
  // chief.
  bool has_retirement_task() const { return retirement_.is_joinable(); }
  // True if has_retirement_task(), and the task is done or overdue.
  // EndRetirement then does not wait.
  bool MayEndRetirement() const;
  // True while the task that retires old checkpoints runs. In contrast,
  // has_retirement_task stays true until EndRetirement or EndTask has waited
  // for the task.
  bool RetirementRuns() const { return !retirement_.is_done(); }
  // Waits for the retirement task, if there is one. Returns the error of the
  // task (kFenced or kCancelled), or kDeadlineExceeded if the task exceeds the
  // time limit of a save. After an error this worker must stop.
  Status EndRetirement();
  // Waits as EndRetirement does, and returns the same errors, but emits no
  // event if the task hangs. The training task calls it at the end, when the
  // generation is lost.
  Status EndTask();
  // Waits for the retirement task, if there is one, without a time limit.
  void JoinTask() { retirement_.WaitUntil(kNever); }
  // Duration of the last retirement. The chief sends it to all ranks when the
  // next save begins, so it is equal on all ranks right after a save.
  Duration retirement_took() const { return retirement_took_; }

  // Durations of those parts of the current save for which training waits.
  TimeSplit& times() { return times_; }
  // A save that has ended on this rank: bytes written, and durations of its
  // background tasks.
  struct Ended {
    const SaveAttempt& attempt;
    uint64_t bytes = 0;
    std::vector<PartTime> background = {};
  };
  // Emits the times of the save. If there is a retirement task, emits them only
  // after EndRetirement or EndTask has waited for the task.
  void EmitTimes(Ended ended, const Status& outcome);
  // Returns the saves that have ended since the last call.
  std::vector<TimedSave> TakeTimedSaves() { return std::exchange(timed_, {}); }

  // Exchanges the needs of all ranks. Returns kRequired if at least one rank
  // needs a save.
  Result<SaveNeed> AnySaveNeed(const Position& position, SaveNeed own_need);

  bool is_chief() const { return rank_ == 0; }

  // On the chief: name of the newest committed checkpoint with a finite state;
  // empty if there is none. REQUIRES: no task commits.
  const std::string& newest_finite() const { return newest_finite_; }

  // On the chief: returns one line for each harmless failure of a save since
  // the last call, such as a state file that was not written or a checkpoint
  // that was not removed. The failures of a retirement are returned once its
  // task has ended. On other ranks: returns an empty list.
  std::vector<std::string> TakeWarnings();

 private:
  struct SaveTry {
    SaveAttempt attempt;
    uint64_t bytes = 0;
    bool space_freed = false;
  };
  // Makes one try. Fills `bytes`, and sets `space_freed` if a retry would find
  // more disk space.
  Status TrySave(SaveTry& tried, RetirementTime retirement_time);
  Status CommitAndRetire(const SaveAttempt& attempt,
                         const std::vector<std::string>& reports,
                         RetirementTime retirement_time);
  void StartRetirement(const CheckpointHead& head);
  // Emits pending_times_, if set, with the times of the task that has ended.
  void EmitPendingTimes();
  // Moves the store's warnings to `warnings_`. REQUIRES: no retirement
  // runs, as it adds warnings to the store.
  void KeepWarnings();
  void ReportTimes(LogEvent times);
  std::string NewestFinite() const;
  // On the chief: removes a checkpoint if the save failed with `why` for lack
  // of disk space. Returns `why`, or the error of the removal.
  Status FreeSpaceAfter(Status why);
  // Message to the other ranks: not empty if the chief has freed disk space
  // since the last begin.
  std::string SpaceFreedMessage() const {
    return space_freed_ ? "room freed" : "";
  }
  // Returns an attempt with all values that need no exchange. REQUIRES: with
  // `only_parameters`, the newest values are on the host.
  SaveAttempt NewAttempt(const TrainState& state, const Digest& state_digest,
                         std::span<const std::string> only_parameters) const;
  bool HasCheckpointOf(const Position& position) const;
  int ShardsOf(std::span<const TensorView> tensors) const;
  Status AgreeOnBegin(SaveAttempt& attempt);

  World* world_;
  CheckpointStore* store_;
  Ring* ring_;
  // Copied from the ring, as a task may run longer than the ring exists.
  int rank_;
  int size_;
  std::string job_json_;
  uint64_t generation_;
  Duration timeout_;
  int max_shards_ = 0;
  bool refuses_not_finite_ = false;
  std::string not_finite_;
  bool refused_ = false;
  bool space_freed_ = false;  // by the chief, since the last begin
  std::string newest_finite_;
  std::vector<std::string> warnings_;  // of tasks that have ended
  Duration retirement_took_{0};
  TimeSplit times_;
  std::vector<TimedSave> timed_;

  BackgroundTask retirement_;
  uint64_t retirement_step_ = 0;  // step of the save that the task follows
  // kSaveTimes event of the save that the task follows. Emitted once the task
  // has ended.
  std::optional<LogEvent> pending_times_;
  // Results of the task: read only after it has ended.
  Status retirement_status_;
  Time retired_at_{};
  TimeSplit retirement_times_;
};

// Returns true if the error of a save left the run unchanged on every rank.
bool CanContinueAfter(const Status& save);

// Encodes a Status as bytes, to send it from rank to rank.
std::string EncodeStatus(const Status& status);
// Returns the status encoded in `bytes`; kDataLoss if they are malformed.
Status DecodeStatus(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_COLLECTIVE_SAVE_H_
