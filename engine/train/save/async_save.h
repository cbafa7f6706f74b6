// A save that training does not wait for: each rank copies its part, a task
// writes the copy once it has arrived, and the chief's task commits once all
// have written. With spare arrays nothing large is copied: the task writes the
// state's arrays where they lie, updates write to the spare ones, and the task
// takes the digest too.
//
// All that the ranks exchange is exchanged by the training task at a boundary,
// in one order on all of them. Whether a rank's task is through rides along in
// the integer of each step, so that all come to the same boundary at which the
// save goes on; which one that is, no bit of the state depends on. One save is
// under way at most, and one copy, of this rank's part, is held; or one second
// set of the state's arrays.
#ifndef GAUNTLET_ENGINE_TRAIN_SAVE_ASYNC_SAVE_H_
#define GAUNTLET_ENGINE_TRAIN_SAVE_ASYNC_SAVE_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/train/save/background_task.h"
#include "engine/train/save/collective_save.h"
#include "engine/train/state/spare_arrays.h"
#include "engine/train/state/state_copy.h"
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

// Bits beside the requests of notice_requests.h: a rank's task is running; a
// rank's part has failed, or takes longer than a save may.
inline constexpr uint32_t kSaveUnderWay = 8;
inline constexpr uint32_t kAbortSave = 16;
inline constexpr uint32_t kSaveBits = kSaveUnderWay | kAbortSave;

// Outcome of a save, equal on all ranks.
struct SaveOutcome {
  uint64_t step = 0;
  Phase phase = Phase::kInEpoch;
  Status status;  // as CollectiveSave::Save
  // Duration of the save had training waited for it.
  Duration took{0};
};

// The training task alone uses it.
class AsyncSave {
 public:
  // All of it outlives this. A task that takes longer than `timeout` hangs.
  // `spare` are of the state that is saved; null: each save takes a copy.
  AsyncSave(World& world, CollectiveSave& save, Duration timeout,
            SpareArrays* spare = nullptr);

  bool is_under_way() const { return stage_ != Stage::kNone; }
  // REQUIRES: is_under_way.
  uint64_t step() const { return attempt_.head.step; }
  Phase phase() const { return attempt_.head.phase; }

  // Bits that this rank adds to the integer of the next exchange.
  uint32_t Bits() const;

  // Every rank calls Begin and Advance at one boundary.
  //
  // Starts to write the copy, or the state itself. If this checkpoint exists
  // already, nothing is under way afterwards. Errors as of
  // CollectiveSave::Save. `waited` is for the event. REQUIRES: nothing is under
  // way.
  Status Begin(const TrainState& state, const std::string& waited);
  // Moves to the next stage: all have written, or committed. Waits for tasks
  // that have not ended. Returns the outcome once there is one.
  // REQUIRES: is_under_way.
  std::optional<SaveOutcome> Advance();
  // True if no rank's task runs any more, or a rank wants the save to end, by
  // the integer of the newest exchange.
  bool MayAdvance(uint32_t agreed) const;

  // Waits for this rank's task, no longer than a save may take: the training
  // task's last action in a generation that is lost. Returns false if the task
  // hangs.
  bool EndTask();
  // Waits for as long as it takes.
  void JoinTask();

  // Size of the copy's buffer, in bytes.
  uint64_t copy_capacity() const { return copy_.capacity(); }
  // Null: each save takes a copy.
  const SpareArrays* spare() const { return spare_; }

 private:
  enum class Stage : uint8_t { kNone, kWriting, kCommitting };

  // Takes the copy, or keeps the state's arrays as they are. Returns the
  // tensors to write.
  Result<std::vector<TensorView>> Hold(const TrainState& state);
  void StartWriting(std::vector<TensorView> own);
  // The state's arrays may be written in place again.
  void LetGo();
  void StartCommit();
  std::optional<SaveOutcome> EndWriting();
  SaveOutcome EndCommit();
  SaveOutcome End(const Status& status);
  // Waits for the running task; kDeadlineExceeded names the stage that hangs.
  Status WaitForTask();
  bool IsOverdue() const;

  World* world_;
  CollectiveSave* save_;
  Duration timeout_;
  SpareArrays* spare_;
  BackgroundTask task_;
  StateCopy copy_;

  Stage stage_ = Stage::kNone;
  SaveAttempt attempt_;
  std::vector<std::string> reports_;  // of all ranks, after kWriting
  Time task_began_{};
  // Results of the tasks: read only after the tasks have ended.
  Result<WrittenPart> own_part_ = WrittenPart();
  std::optional<Digest> own_digest_;  // DigestTime::kBeside
  std::atomic<bool> own_failed_ = false;
  Status commit_;
  TimeSplit task_times_;
  Duration begin_took_{0};
  Duration write_took_{0};
  Duration commit_took_{0};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_ASYNC_SAVE_H_
