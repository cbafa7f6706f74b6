// Numbered checkpoints of a custom training: saved on demand, the newest ones
// kept, the newest good one restored.
#ifndef GAUNTLET_ENGINE_API_CHECKPOINT_MANAGER_H_
#define GAUNTLET_ENGINE_API_CHECKPOINT_MANAGER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/custom_training.h"
#include "engine/ckpt/checkpoint_store.h"
#include "engine/status.h"
#include "engine/train/save/collective_save.h"
#include "engine/train/save/store_hold.h"

namespace gauntlet {

struct CheckpointManagerOptions {
  std::string directory;  // of this training alone
  int max_to_keep = 5;
  // Beside them one every so many hours stays for good; 0: none does.
  uint64_t keep_checkpoint_every_n_hours = 10'000;
  // SaveIfDue saves at multiples of it.
  uint64_t checkpoint_interval = 1;  // steps
  // A program's own loop has no exchange of the manager's in which a save that
  // it does not wait for could come to its end: kAsync is refused.
  SaveMode mode = SaveMode::kSync;
  // The parameters that are saved, with what belongs to each of them; the
  // others are what they are before a restore. Empty: all of them. Another
  // choice is another job.
  std::vector<std::string> variables;
  ColdStart cold_start = ColdStart::kRefuse;
  // kStop: Save refuses a state that is not finite (kFailedPrecondition).
  OnNotFinite on_not_finite = OnNotFinite::kTrainOn;
};

// Told of each save, on every worker, in the order of their adding.
class SaveListener {
 public:
  virtual ~SaveListener() = default;
  // An error keeps the save from being made on all workers.
  virtual Status BeforeSave(uint64_t /*step*/) { return OkStatus(); }
  // Called once the save is acknowledged; `path` is that of the checkpoint.
  virtual void AfterSave(uint64_t /*step*/, const std::string& /*path*/) {}
};

// Collective: all workers make each call together, unless it only reads.
class CheckpointManager {
 public:
  // The training outlives it. It owns the directory until it is destroyed or
  // the process ends. kInvalidArgument: no directory, nothing to keep, an
  // interval of 0, another mode than kSync, a variable that is no parameter or
  // stands there twice. kFailedPrecondition: another manager, Fit or run owns
  // the directory; all workers are refused, the owner is unharmed.
  static Result<std::unique_ptr<CheckpointManager>> Create(
      CustomTraining& training, const CheckpointManagerOptions& options);

  // Returns true if there was a checkpoint; its values are then the training's.
  // A damaged checkpoint is set aside and the next older one loaded.
  // kFailedPrecondition: there are checkpoints and none is valid. kOtherJob:
  // they belong to another job; the message names the differences. Call it
  // once, before the first save.
  Result<bool> RestoreOrInitialize();

  // Saves all that the future of the training depends on, and returns the
  // checkpoint's path: its name has the step. A step that is saved already is
  // not saved again. kIoError, kResourceExhausted: not saved, and nothing else
  // has changed; training may continue. REQUIRES: RestoreOrInitialize was Ok.
  Result<std::string> Save();
  // Saves if the step is a multiple of the interval; else returns "".
  Result<std::string> SaveIfDue();

  // Paths of the checkpoints that can be restored, oldest first.
  const std::vector<std::string>& checkpoints() const { return paths_; }
  // "" if there is none.
  std::string latest_checkpoint() const;

  // The listener outlives the manager.
  void AddListener(SaveListener& listener) { listeners_.push_back(&listener); }

  // True if the last Save refused the state as not finite; equal on all
  // workers.
  bool RefusedNotFinite() const { return save_ && save_->refused(); }

  // Returns the harmless failures since the last call, one line each.
  std::vector<std::string> TakeWarnings() { return store_.TakeWarnings(); }

 private:
  CheckpointManager(CustomTraining& training,
                    const CheckpointManagerOptions& options, StoreHold hold,
                    CheckpointStore store);
  Result<std::string> FromChief(const std::string& said);
  Status LoadTogether(const CheckpointRef& parent);
  Status LearnPaths();
  Status AskListeners();

  CustomTraining* training_;
  CheckpointManagerOptions options_;
  StoreHold hold_;
  CheckpointStore store_;
  std::string job_json_;
  std::optional<CollectiveSave> save_;
  std::vector<SaveListener*> listeners_;
  std::vector<std::string> paths_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_CHECKPOINT_MANAGER_H_
