// Numbered checkpoints of a custom training: saves on request, keeps the newest
// ones, and restores the newest valid one.
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
  std::string directory;  // no other training may use it
  int max_to_keep = 5;
  // In addition to the newest checkpoints, one is kept per this many hours; 0:
  // none.
  uint64_t keep_checkpoint_every_n_hours = 10'000;
  // SaveIfDue saves at multiples of this number of steps.
  uint64_t checkpoint_interval = 1;  // steps
  // Must be kSync: an asynchronous save is completed during later steps, and
  // the manager does not run during steps.
  SaveMode mode = SaveMode::kSync;
  // Names of the parameters to save, together with their slots and pending
  // gradients; a restore leaves all other parameters unchanged. Empty: all
  // parameters are saved. The names are part of the job: a restore with other
  // names fails with kOtherJob.
  std::vector<std::string> variables;
  ColdStart cold_start = ColdStart::kRefuse;
  // With kStop, Save refuses a state that is not finite (kFailedPrecondition).
  OnNotFinite on_not_finite = OnNotFinite::kTrainOn;
};

// Listener that is called for each save, on every worker. Listeners are called
// in the order in which they were added.
class SaveListener {
 public:
  virtual ~SaveListener() = default;
  // Called before a save. An error prevents the save on all workers.
  virtual Status BeforeSave(uint64_t /*step*/) { return OkStatus(); }
  // Called once the save is acknowledged; `path` is that of the checkpoint.
  virtual void AfterSave(uint64_t /*step*/, const std::string& /*path*/) {}
};

// Collective: all workers make the same calls together, except calls that only
// read.
class CheckpointManager {
 public:
  // `training` outlives the manager. The manager owns the directory until the
  // manager is destroyed or the process ends. kInvalidArgument: no directory,
  // nothing to keep, an interval of 0, a mode other than kSync, or a variable
  // that is no parameter or is listed twice. kFailedPrecondition, on all
  // workers: another manager, Fit or run owns the directory. The attempt does
  // not affect that owner.
  static Result<std::unique_ptr<CheckpointManager>> Create(
      CustomTraining& training, const CheckpointManagerOptions& options);

  // Loads the newest valid checkpoint into the training. Returns true if there
  // was one. Damaged checkpoints are renamed (rejected-…) and no longer used.
  // kFailedPrecondition: there are checkpoints but none is valid. kOtherJob:
  // they belong to another job; the message has the differences. After any
  // error the state of the training may be incomplete, and must not be used.
  // Call it once, before the first save.
  Result<bool> RestoreOrInitialize();

  // Saves everything that later steps depend on, and returns the path of the
  // checkpoint; the path contains the step. If a checkpoint of this step
  // exists, saves nothing and returns the path of that checkpoint. kIoError,
  // kResourceExhausted, kForbidden: nothing was saved, and training may
  // continue. After kResourceExhausted, older checkpoints may have been removed
  // to free disk space. REQUIRES: RestoreOrInitialize was Ok.
  Result<std::string> Save();
  // Saves if the step is a multiple of the interval; else returns "".
  Result<std::string> SaveIfDue();

  // Paths of the checkpoints that can be restored, oldest first.
  const std::vector<std::string>& checkpoints() const { return paths_; }
  // Returns the path of the newest checkpoint; "" if there is none.
  std::string latest_checkpoint() const;

  // The listener outlives the manager.
  void AddListener(SaveListener& listener) { listeners_.push_back(&listener); }

  // Returns true if the last Save was refused because the state was not finite;
  // equal on all workers.
  bool RefusedNotFinite() const { return save_ && save_->refused(); }

  // Returns the harmless failures since the last call, one line each.
  std::vector<std::string> TakeWarnings() { return store_.TakeWarnings(); }

 private:
  CheckpointManager(CustomTraining& training,
                    const CheckpointManagerOptions& options, StoreHold hold,
                    CheckpointStore store);
  Result<std::string> FromChief(const std::string& payload);
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
