// Asynchronous save. Each rank copies its part of the state. A task of the rank
// writes the copy once it is in host memory. When all ranks have written, a
// task of the chief commits the checkpoint and retires old ones. With spare
// arrays, large arrays are not copied: the task writes them directly from the
// state and computes the digest, while updates write to the spare arrays.
//
// The training task does all exchanges, at boundaries, in the same order on all
// ranks. The exchange of each step carries a bit that is set while the task of
// any rank is running, so all ranks advance the save at the same boundary. The
// state does not depend on the choice of this boundary. At most one save is in
// flight. A rank holds at most one copy of its part, or one second set of the
// state's arrays.
#ifndef GAUNTLET_ENGINE_TRAIN_SAVE_ASYNC_SAVE_H_
#define GAUNTLET_ENGINE_TRAIN_SAVE_ASYNC_SAVE_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/train/background_task.h"
#include "engine/train/save/collective_save.h"
#include "engine/train/state/resident_state.h"
#include "engine/train/state/spare_arrays.h"
#include "engine/train/state/state_copy.h"
#include "engine/world/world.h"

namespace gauntlet {

// Bits about saves, which a rank sends together with the requests of
// notice_requests.h. kSaveInFlight: a rank's task is running. kAbortSave: a
// rank's part has failed, or exceeds the time limit of a save. kRetiring: after
// a synchronous save, the chief's task that retires old checkpoints is running.
inline constexpr uint32_t kSaveInFlight = 8;
inline constexpr uint32_t kAbortSave = 16;
inline constexpr uint32_t kRetiring = 32;
inline constexpr uint32_t kSaveBits = kSaveInFlight | kAbortSave | kRetiring;

// Outcome of a save, equal on all ranks.
struct SaveOutcome {
  uint64_t step = 0;
  Phase phase = Phase::kInEpoch;
  Status status;  // as CollectiveSave::Save returns it
  // Time that the save would take if training waited for it.
  Duration took{0};
};

// Not thread-safe: used by the training task only.
class AsyncSave {
 public:
  // The referenced objects outlive this object. A task that takes longer than
  // `timeout` counts as hung. `copy`: memory for copies, not used by anything
  // else. `spare`: spare arrays of the saved state; null: each save takes a
  // copy.
  AsyncSave(World& world, CollectiveSave& save, Duration timeout,
            StateCopy& copy, SpareArrays* spare = nullptr);

  // Allocates host memory for copies of the state, so that training does not
  // wait for the allocation in the first save.
  void Reserve(const TrainState& state);

  bool is_in_flight() const { return stage_ != Stage::kNone; }
  // REQUIRES: is_in_flight.
  uint64_t step() const { return attempt_.head.step; }
  Phase phase() const { return attempt_.head.phase; }

  // Returns the bits of this rank for the next exchange.
  uint32_t Bits() const;

  // Begin and Advance are called on every rank at the same boundary.
  //
  // Starts to write the copy, or the state itself. If a checkpoint of this
  // state already exists, starts nothing: no save is in flight afterwards.
  // Errors are those of CollectiveSave::Save. `waited` is the detail of the
  // event kSaveCopied. REQUIRES: no save is in flight.
  Status Begin(ResidentState& resident, const std::string& waited);
  // Completes the current stage (writing the parts, then committing). Waits for
  // tasks that are still running. Returns the outcome if the save has ended,
  // else nullopt. REQUIRES: is_in_flight.
  std::optional<SaveOutcome> Advance();
  // Returns true if no rank's task is running, or a rank has set kAbortSave.
  // `agreed`: bits of all ranks from the newest exchange.
  bool MayAdvance(uint32_t agreed) const;

  // Waits for this rank's task, within the time limit of a save. The training
  // task calls it at the end, when the generation is lost. kDeadlineExceeded:
  // the task of the save hangs. Returns an error of the commit only if training
  // cannot continue after it (CanContinueAfter).
  Status EndTask();
  // Waits for this rank's task without a time limit.
  void JoinTask();

  // Size of the copy's buffer, in bytes.
  uint64_t copy_capacity() const { return copy_->capacity(); }
  // Null if each save takes a copy.
  const SpareArrays* spare() const { return spare_; }

 private:
  enum class Stage : uint8_t { kNone, kWriting, kCommitting };

  // Takes the copy, or freezes the state's arrays. Returns the tensors to
  // write.
  Result<std::vector<TensorView>> CopyOrFreeze(ResidentState& resident);
  void StartWriting(std::vector<TensorView> own);
  // Allows in-place writes to the state's arrays again.
  void Thaw();
  void StartCommit();
  std::optional<SaveOutcome> EndWriting();
  SaveOutcome EndCommit();
  SaveOutcome End(const Status& status);
  // Waits for the running task. kDeadlineExceeded names the stage that hangs.
  Status WaitForTask();

  World* world_;
  CollectiveSave* save_;
  Duration timeout_;
  StateCopy* copy_;
  SpareArrays* spare_;
  BackgroundTask task_;

  Stage stage_ = Stage::kNone;
  SaveAttempt attempt_;
  std::vector<std::string> reports_;  // of all ranks, after kWriting
  // Results of the tasks: read only after the tasks have ended.
  Result<WrittenPart> own_part_ = WrittenPart();
  std::optional<Digest> own_digest_;  // only with kInBackground
  std::atomic<bool> own_failed_ = false;
  Status commit_;
  TimeSplit task_times_;
  Duration begin_took_{0};
  Duration write_took_{0};
  Duration commit_took_{0};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_ASYNC_SAVE_H_
