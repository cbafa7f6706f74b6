// The training loop: runs steps, evaluations, epoch ends and saves in a
// generation that has formed.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_TRAINING_LOOP_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_TRAINING_LOOP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/check.h"
#include "engine/data/dataset.h"
#include "engine/status.h"
#include "engine/train/loop/boundary_schedule.h"
#include "engine/train/loop/finiteness_watch.h"
#include "engine/train/loop/loop_hooks.h"
#include "engine/train/loop/loop_reports.h"
#include "engine/train/loop/loop_saves.h"
#include "engine/train/loop/loop_state.h"
#include "engine/train/loop/run_summary.h"
#include "engine/train/loop/trainer.h"
#include "engine/train/notice/notice_requests.h"
#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/state/resident_state.h"
#include "engine/train/time_totals.h"
#include "engine/world/world.h"

namespace gauntlet {

// kNotFinite: OnNotFinite::kStop ended the loop; the state was not saved.
enum class LoopEnd { kFinished, kStopped, kNotFinite };

// State that a worker carries into its next generation.
struct LoopCarryover {
  NoticeRequests notices;
  Time last_save;
  bool all_emitted = true;  // events of all operations were emitted
  bool in_save = false;     // other workers may still be in a save
  // kRequired if an asynchronous save will not complete and another one must
  // replace it.
  SaveNeed save_need = SaveNeed::kNone;
  TimeTotals times;
};

class TrainingLoop {
 public:
  // The referenced objects outlive the loop.
  struct Parts {
    World& world;
    const TrainOptions& options;
    Trainer& trainer;
    ResidentState& resident;
  };
  TrainingLoop(const Parts& parts, const SaveStrategy& saves);
  TrainingLoop(const TrainingLoop&) = delete;
  TrainingLoop& operator=(const TrainingLoop&) = delete;

  // Reports of this loop. The caller sets the reporter; without one, nothing is
  // sent.
  LoopReports& reports() { return reports_; }

  // SetSummary, set_hooks and Restore are called before the run, if at all.

  // Writes the training curves to `summary`. On the chief only.
  void SetSummary(RunSummary& summary) {
    CheckIsNew();
    summary_ = &summary;
    saves_.SetSummary(summary);
  }

  // Sets the hooks that the loop calls at each boundary.
  void set_hooks(LoopHooks& hooks) {
    CheckIsNew();
    hooks_ = &hooks;
  }

  void Restore(const LoopCarryover& carryover);

  // Trains until the horizon or a hook's request (kFinished), an agreed stop
  // (kStopped), or a loss or state that is not finite (kNotFinite). Saves the
  // last state if there is a store, except after kNotFinite. If that save
  // fails, unsaved() is the reason. An error ends the run on this worker; a
  // failed save is not an error. A loop runs once: either Run or
  // ResumeFromMemory is called.
  Result<LoopEnd> Run(uint64_t generation);
  const Status& unsaved() const { return saves_.unsaved(); }

  // Like Run, but continues from the state in memory. First repeats the work
  // that is due at the boundary of the state, because the loss of a worker may
  // have interrupted it. kImmediately: saves even if no save is due, because
  // there is no valid checkpoint.
  enum class FirstSave : uint8_t { kWhenDue, kImmediately };
  Result<LoopEnd> ResumeFromMemory(uint64_t generation, FirstSave first_save);

  // Called after the run, or after the error that ended it.
  LoopCarryover carryover() const {
    return {.notices = notices_,
            .last_save = saves_.last_save(),
            .all_emitted = reported_.step == state_->position.step &&
                           reported_.epoch == state_->position.epoch &&
                           reported_.phase == state_->position.phase,
            .in_save = saves_.is_in_save(),
            .save_need = save_need_ == SaveNeed::kRequired ? save_need_
                                                           : saves_.save_need(),
            .times = times_};
  }

 private:
  void CheckIsNew() const {
    CHECK(loop_state_ == LoopState::kNew, "the loop runs already");
  }
  bool trains() const { return loop_state_ == LoopState::kTraining; }
  // Changes the loop's state. CHECKs that the transition is permitted.
  void Enter(LoopState state);
  Status Begin(uint64_t generation);
  Status RepeatBoundary(FirstSave first_save);
  Result<LoopEnd> RunFromHere();
  Status RunOperations();
  Status Finish();
  // Ends training if a save has found a state that is not finite.
  void EndOnNonFiniteSave();
  Result<TrainState*> ForHook();
  Status AgreeOnFinish();
  bool SavesBeforeLeaving() const;
  uint32_t Requests(std::span<const Operation> ahead);
  Status RunOperation();
  Status RunExecution();
  Status RunStep();
  void InjectPlantedCrash();
  Status RunEvaluation();
  Status EndEpoch();
  // Adds the save and the stop that the options require at this boundary to
  // those that the workers agreed on.
  void NoteDue(LoopBoundary boundary);
  // Records the requests of all workers, as an exchange returned them.
  void OnRequestsAgreed(uint32_t requests);
  // Makes the save and the stop that are due now.
  Status RunDueActions();
  Status RunDueRequests();
  Status EmitState(EventKind kind, const StepOutcome& outcome, uint64_t epoch);
  // Reports the warnings of the summary.
  void ReportSummaryWarnings();
  bool DigestDue() const;

  World* world_;
  const TrainOptions* options_;
  Trainer* trainer_;
  ResidentState* resident_;
  const TrainState* state_;  // resident_->host()
  BoundarySchedule schedule_;
  RunSummary* summary_ = nullptr;
  LoopHooks* hooks_ = nullptr;
  LoopState loop_state_ = LoopState::kNew;
  uint64_t generation_ = 0;
  uint32_t agreed_ = 0;                   // requests not carried out yet
  SaveNeed save_need_ = SaveNeed::kNone;  // from the previous generation
  // True if the options require a stop at the end of the current execution.
  // Horizon::stop_at_step has no effect if training resumed after that step.
  bool stop_due_ = false;
  NoticeRequests notices_;
  Position reported_;  // of the newest state that was emitted
  TimeTotals times_;
  LoopReports reports_;
  LoopSaves saves_;
  FinitenessWatch watch_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_TRAINING_LOOP_H_
