// A save, as all ranks make it together: each rank of the first ones a shard,
// the chief the commit, and nobody goes on before the outcome is known to all.
#ifndef GAUNTLET_ENGINE_TRAIN_COLLECTIVE_SAVE_H_
#define GAUNTLET_ENGINE_TRAIN_COLLECTIVE_SAVE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/cluster/ring.h"
#include "engine/status.h"
#include "engine/train/time_totals.h"
#include "engine/train/train_state.h"
#include "engine/world/time_split.h"

namespace gauntlet {

// Training waits for the digest of the state, and the ranks compare theirs as
// the save begins; or a task takes it, and they compare them behind the
// writing.
enum class DigestTime : uint8_t { kAtOnce, kBeside };

// A save that has begun, on one rank.
struct SaveAttempt {
  CheckpointHead head;
  DigestTime digest_time = DigestTime::kAtOnce;
  // Digest of all of this rank's state; none: not taken yet.
  std::optional<Digest> whole;
  // Those of the checkpoint that this rank writes; views into the state.
  std::vector<TensorView> own;
  int shards = 1;  // of the checkpoint, one of each of the first ranks
  ExchangeKey key;
  // The chief's name for it, the same on all ranks; empty: nothing is to be
  // done, as a checkpoint of this very state is there.
  std::string name;
  // What the manifest says where the state turns out not to be finite.
  uint64_t not_finite_since = 0;
  // The chief made room after this save had failed to begin for want of it.
  bool room_freed = false;
  // What kept this rank from beginning. It takes part all the same and says
  // so in its report: a rank that left an exchange out would break the ring.
  Status ready;
};

// The shard that a rank wrote of a checkpoint; none: it writes none.
using WrittenPart = std::optional<ShardFile>;
inline uint64_t BytesOf(const Result<WrittenPart>& part) {
  return part.ok() && *part ? (*part)->bytes : 0;
}

// Whether a save was begun that will not come out, and nothing newer is saved.
enum class SaveDebt : uint8_t { kNone, kOwed };

class CollectiveSave {
 public:
  CollectiveSave(World& world, CheckpointStore& store, Ring& ring,
                 std::string job_json, uint64_t generation, Duration timeout);

  // From now on a state that is not finite, or whose loss is not, is not saved
  // (kFailedPrecondition, refused()). To be called on every rank alike.
  void RefuseNotFinite() { refuses_not_finite_ = true; }
  // From now on at most so many ranks write a shard; 0: all may. To be called
  // on every rank alike.
  void LimitShards(int most) { most_shards_ = most; }

  // REQUIRES: every rank calls it at the same boundary.
  // Ok: committed, or already there. What MayGoOnAfter allows: this save is
  // void on every rank, training may go on. Where there is no room the chief
  // removes checkpoints that recovery does not need, one by one, and the save
  // is made again after each. `before_try` is called before the first try and
  // each other one: every try may take as long as a save. kFailedPrecondition:
  // the ranks' states differ (the message names them), or a committed
  // checkpoint of this step has another state: the run must stop. kFenced:
  // likewise. kUnavailable, kDeadlineExceeded: a worker is lost. With
  // `of_parameters` the checkpoint is of these alone (TrainState::TensorsOf);
  // what the ranks compare is the whole state all the same.
  Status Save(const TrainState& state,
              std::span<const std::string> of_parameters = {},
              const std::function<void()>& before_try = {});

  // What Save consists of, in this order, for who lets something else happen in
  // between. Those that exchange something need every rank at one boundary.
  //
  // Exchanges: whether all states agree (kAtOnce), and the chief's word on its
  // begin. The state's newest values stay where they are.
  Result<SaveAttempt> Begin(const TrainState& state, DigestTime digest_time);
  // Returns those of the state's tensors that are of this rank's part.
  std::vector<TensorView> OwnPartOf(std::span<const TensorView> tensors) const;
  // Writes and syncs the tensors of this rank's part, if it writes a shard.
  // From any task. `times` is of that task.
  Result<WrittenPart> WritePart(const SaveAttempt& attempt,
                                std::span<const TensorView> tensors,
                                TimeSplit& times);
  // Exchanges: how it went, of every rank, for Commit and WhyVoid.
  Result<std::vector<std::string>> ExchangeParts(const SaveAttempt& attempt,
                                                 Result<WrittenPart> own);
  // Returns the error of the first rank whose part failed, else of ranks whose
  // states differ (kBeside); Ok: all are written.
  static Status WhyVoid(const SaveAttempt& attempt,
                        const std::vector<std::string>& reports);
  // A tensor that training goes on from and that has values that are not
  // finite, as the last exchange of parts told all ranks; empty: there is none.
  const std::string& not_finite() const { return not_finite_; }
  // After that exchange: kFailedPrecondition where the save is to be refused.
  Status Refusal(const SaveAttempt& attempt);
  // Whether the last save was refused, on all ranks alike.
  bool refused() const { return refused_; }
  // The chief: commits, or clears up what is void, and makes room if there was
  // none. From any task, while no other one uses the store.
  // `times` is of that task.
  Status Commit(const SaveAttempt& attempt,
                const std::vector<std::string>& reports, TimeSplit& times);
  // The chief: clears up what is void, says why in the event, and makes room
  // if there was none.
  Status Abandon(const SaveAttempt& attempt, const Status& why_void);
  // Exchanges: what each rank says.
  Result<std::vector<std::string>> Tell(const SaveAttempt& attempt,
                                        const std::string& said);
  // Once the outcome is known to be Ok.
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
  Result<SaveDebt> AnyDebt(const Position& position, SaveDebt own);

  bool chief() const { return rank_ == 0; }

  // On the chief: name of the newest committed checkpoint whose state is
  // finite; empty: there is none. REQUIRES: no task uses the store.
  std::string NewestFinite() const;

  // What went wrong in saves without doing harm (a state file, a retirement),
  // a line each, since the last call. On the chief; elsewhere empty.
  std::vector<std::string> TakeWarnings() { return store_->TakeWarnings(); }

 private:
  struct Tried {
    SaveAttempt attempt;
    uint64_t bytes = 0;
    bool room_freed = false;
  };
  // Fills `bytes`, and sets `room_freed` if a retry has more room.
  Status TrySave(Tried& tried);
  // The chief: removes a checkpoint after a save that failed with `why`, if
  // that was for want of room. What fails in that stands for the save's error.
  Status MakeRoomAfter(Status why);
  // Whether it did so since the last begin, for the other ranks; "": no.
  std::string RoomFreed() const { return room_freed_ ? "room freed" : ""; }
  // Before the others know of it. REQUIRES: with `of_parameters`, the newest
  // values are here.
  SaveAttempt NewAttempt(const TrainState& state, const Digest& whole,
                         std::span<const std::string> of_parameters) const;
  bool HasCheckpointOf(const Position& position) const;
  int ShardsOf(std::span<const TensorView> tensors) const;
  Status AgreeOnBegin(SaveAttempt& attempt);

  World* world_;
  CheckpointStore* store_;
  Ring* ring_;
  // Of the ring, which a task may outlive.
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

// Whether a save's error leaves the run as it was on every rank.
bool MayGoOnAfter(const Status& save);

// A Status as bytes, for the way from rank to rank.
std::string EncodeStatus(const Status& status);
// The status in `bytes`; kDataLoss (with itself as the message) if torn.
Status DecodeStatus(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_COLLECTIVE_SAVE_H_
