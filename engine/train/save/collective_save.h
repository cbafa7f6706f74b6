// A save, as all ranks make it together: each rank of the first ones a shard,
// the chief the commit, and nobody goes on before the outcome is known to all.
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
#include "engine/train/state/train_state.h"
#include "engine/train/time_totals.h"
#include "engine/world/time_split.h"

namespace gauntlet {

// Training waits for the digest of the state, and the ranks compare theirs as
// the save begins; or a task takes it, and they compare them behind the
// writing.
enum class DigestTime : uint8_t { kImmediately, kBeside };

// A save that has begun, on one rank.
struct SaveAttempt {
  CheckpointHead head;
  DigestTime digest_time = DigestTime::kImmediately;
  // Digest of all of this rank's state; none: not taken yet.
  std::optional<Digest> whole;
  // Tensors of the checkpoint that this rank writes; views into the state.
  std::vector<TensorView> own;
  int shards = 1;  // one for each of the first ranks
  ExchangeKey key;
  // The chief's name for the save, the same on all ranks; empty: nothing is to
  // be done, as a checkpoint of this very state exists.
  std::string name;
  // For the manifest, if the state turns out not to be finite.
  uint64_t not_finite_since = 0;
  // The chief made room after this save had failed to begin for lack of it.
  bool room_freed = false;
  // Error that kept this rank from beginning. The rank takes part all the same
  // and reports it: a rank that left out an exchange would break the ring.
  Status ready;
};

// Shard of a checkpoint that a rank wrote; none: it writes none.
using WrittenPart = std::optional<ShardFile>;
inline uint64_t BytesOf(const Result<WrittenPart>& part) {
  return part.ok() && *part ? (*part)->bytes : 0;
}

// Tells whether a save was begun that will not complete, and nothing newer is
// saved.
enum class SaveNeed : uint8_t { kNone, kRequired };

class CollectiveSave {
 public:
  CollectiveSave(World& world, CheckpointStore& store, Ring& ring,
                 std::string job_json, uint64_t generation, Duration timeout);

  // From now on a state that is not finite, or whose loss is not, is not saved
  // (kFailedPrecondition, refused()). Call it on every rank alike.
  void RefuseNotFinite() { refuses_not_finite_ = true; }
  // From now on at most so many ranks write a shard; 0: all may. Call it on
  // every rank alike.
  void LimitShards(int most) { most_shards_ = most; }

  // REQUIRES: every rank calls it at the same boundary.
  // Ok: committed, or already there. What MayGoOnAfter allows: this save
  // failed on every rank, training may continue. Where there is no room the
  // chief removes checkpoints that recovery does not need, one by one, and the
  // save is made again after each. `before_try` is called before the first try
  // and each other one: every try may take as long as a save.
  // kFailedPrecondition: the ranks' states differ (the message names them), or
  // a committed checkpoint of this step has another state: the run must stop.
  // kFenced: likewise. kUnavailable, kDeadlineExceeded: a worker is lost. With
  // `of_parameters` the checkpoint is of these alone (TrainState::TensorsOf);
  // what the ranks compare is the whole state all the same.
  Status Save(const TrainState& state,
              std::span<const std::string> of_parameters = {},
              const std::function<void()>& before_try = {});

  // Steps of Save, in this order, for callers that do other work in between.
  // Steps with an exchange need every rank at one boundary.
  //
  // Exchanges whether all states agree (kImmediately), and the chief's decision
  // to begin. The state's newest values stay where they are.
  Result<SaveAttempt> Begin(const TrainState& state, DigestTime digest_time);
  // Returns the tensors of the state that are in this rank's part.
  std::vector<TensorView> OwnPartOf(std::span<const TensorView> tensors) const;
  // Writes and syncs the tensors of this rank's part, if it writes a shard.
  // Callable from any task; `times` is of that task.
  Result<WrittenPart> WritePart(const SaveAttempt& attempt,
                                std::span<const TensorView> tensors,
                                TimeSplit& times);
  // Exchanges the results of all ranks, for Commit and CheckParts.
  Result<std::vector<std::string>> ExchangeParts(const SaveAttempt& attempt,
                                                 Result<WrittenPart> own);
  // Returns the error of the first rank whose part failed, else of ranks whose
  // states differ (kBeside); Ok: all are written.
  static Status CheckParts(const SaveAttempt& attempt,
                           const std::vector<std::string>& reports);
  // A tensor that training goes on from and that has values that are not
  // finite, as the last exchange of parts told all ranks; empty: there is none.
  const std::string& not_finite() const { return not_finite_; }
  // After that exchange: kFailedPrecondition if the save is to be refused.
  Status Refusal(const SaveAttempt& attempt);
  // True if the last save was refused; equal on all ranks.
  bool refused() const { return refused_; }
  // The chief: commits, or removes the remains of a failed save, and makes room
  // if there was none. Callable from any task, while no other one uses the
  // store. `times` is of that task.
  Status Commit(const SaveAttempt& attempt,
                const std::vector<std::string>& reports, TimeSplit& times);
  // The chief: removes the remains of a failed save, gives the reason in the
  // event, and makes room if there was none.
  Status Abandon(const SaveAttempt& attempt, const Status& failure);
  // Exchanges a text of each rank.
  Result<std::vector<std::string>> AllGather(const SaveAttempt& attempt,
                                             const std::string& said);
  // Called once the outcome is known to be Ok.
  void End(const SaveAttempt& attempt);

  // Time for which training waits for the current save.
  TimeSplit& times() { return times_; }
  // A save that has ended on this rank: what it wrote, and what its tasks took
  // beside the training.
  struct Ended {
    const SaveAttempt& attempt;
    uint64_t bytes = 0;
    std::vector<PartTime> beside = {};
  };
  void EmitTimes(Ended ended, const Status& outcome);
  // Returns the saves that have ended since the last call.
  std::vector<TimedSave> TakeTimedSaves() { return std::exchange(timed_, {}); }

  // Exchanges: whether at least one rank owes one.
  Result<SaveNeed> AnySaveNeed(const Position& position, SaveNeed own);

  bool chief() const { return rank_ == 0; }

  // On the chief: name of the newest committed checkpoint whose state is
  // finite; empty: there is none. REQUIRES: no task uses the store.
  std::string NewestFinite() const;

  // Harmless failures in saves (a state file, a retirement) since the last
  // call, one line each. Empty except on the chief.
  std::vector<std::string> TakeWarnings() { return store_->TakeWarnings(); }

 private:
  struct Tried {
    SaveAttempt attempt;
    uint64_t bytes = 0;
    bool room_freed = false;
  };
  // Fills `bytes`, and sets `room_freed` if a retry has more room.
  Status TrySave(Tried& tried);
  // The chief: removes a checkpoint if the save failed with `why` for lack of
  // room. An error of the removal replaces that of the save.
  Status MakeRoomAfter(Status why);
  // Tells the other ranks whether it did so since the last begin; "": no.
  std::string RoomFreed() const { return room_freed_ ? "room freed" : ""; }
  // Made before the other ranks are informed. REQUIRES: with `of_parameters`,
  // the newest values are here.
  SaveAttempt NewAttempt(const TrainState& state, const Digest& whole,
                         std::span<const std::string> of_parameters) const;
  bool HasCheckpointOf(const Position& position) const;
  int ShardsOf(std::span<const TensorView> tensors) const;
  Status AgreeOnBegin(SaveAttempt& attempt);

  World* world_;
  CheckpointStore* store_;
  Ring* ring_;
  // Copied from the ring, which a task may outlive.
  int rank_;
  int size_;
  std::string job_json_;
  uint64_t generation_;
  Duration timeout_;
  int most_shards_ = 0;
  bool refuses_not_finite_ = false;
  std::string not_finite_;
  bool refused_ = false;
  bool room_freed_ = false;  // by the chief, since the last begin
  TimeSplit times_;
  std::vector<TimedSave> timed_;
};

// Returns true if a save's error leaves the run as it was on every rank.
bool MayGoOnAfter(const Status& save);

// Encodes a Status as bytes, to send it from rank to rank.
std::string EncodeStatus(const Status& status);
// The status in `bytes`; kDataLoss (with itself as the message) if torn.
Status DecodeStatus(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_COLLECTIVE_SAVE_H_
