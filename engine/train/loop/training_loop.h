// The training loop: runs steps, evaluations, epochs and saves, once a session
// has formed.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_TRAINING_LOOP_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_TRAINING_LOOP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/data/dataset.h"
#include "engine/status.h"
#include "engine/train/loop/finiteness_watch.h"
#include "engine/train/loop/loop_hooks.h"
#include "engine/train/loop/loop_reports.h"
#include "engine/train/loop/loop_saves.h"
#include "engine/train/loop/run_summary.h"
#include "engine/train/loop/trainer.h"
#include "engine/train/notice/notice_requests.h"
#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/state/train_state.h"
#include "engine/train/time_totals.h"
#include "engine/world/world.h"

namespace gauntlet {

// kNotFinite: OnNotFinite::kStop ended the loop; the state was not saved.
enum class LoopEnd { kFinished, kStopped, kNotFinite };

// State a worker carries into its next generation.
struct LoopCarryover {
  NoticeRequests notices;
  Time last_save;
  bool all_said = true;  // every operation that the state went through
  bool in_save = false;  // other workers may still be in it
  // Need of a save that replaces an asynchronous one that will not complete.
  SaveNeed save_need = SaveNeed::kNone;
  TimeTotals times;
};

class TrainingLoop {
 public:
  // All of these must outlive the loop.
  struct Parts {
    World& world;
    const TrainOptions& options;
    Trainer& trainer;
    TrainState& state;
  };
  TrainingLoop(const Parts& parts, const SaveStrategy& saves);
  TrainingLoop(const TrainingLoop&) = delete;
  TrainingLoop& operator=(const TrainingLoop&) = delete;

  // The caller sets the destination of the reports; without one, none are made.
  LoopReports& reports() { return reports_; }

  // Writes the training curves to `summary`. On the chief only.
  void SetSummary(RunSummary& summary) {
    summary_ = &summary;
    saves_.WriteOut(summary);
  }

  // Hooks to call at each boundary; none by default.
  void set_hooks(LoopHooks& hooks) { hooks_ = &hooks; }

  // Trains until the horizon or a hook's request (kFinished), an agreed stop
  // (kStopped) or numbers that are not finite (kNotFinite). Saves the last
  // state if there is a store; if that fails, unsaved() is the reason. An error
  // ends the run on this worker; a failed save does not.
  Result<LoopEnd> Run(uint64_t generation);
  const Status& unsaved() const { return saves_.unsaved(); }

  // Like Run, but from the state in memory. First does the work due at its
  // boundary, which may have been interrupted. kImmediately: also saves first,
  // as no checkpoint is left.
  enum class FirstSave : uint8_t { kWhenDue, kImmediately };
  Result<LoopEnd> ResumeFromMemory(uint64_t generation, FirstSave first_save);

  LoopCarryover memory() const {
    return {.notices = notices_,
            .last_save = saves_.last_save(),
            .all_said = said_.step == state_->position.step &&
                        said_.epoch == state_->position.epoch &&
                        said_.phase == state_->position.phase,
            .in_save = saves_.is_in_save(),
            .save_need = save_need_ == SaveNeed::kRequired ? save_need_
                                                           : saves_.save_need(),
            .times = times_};
  }
  void Restore(const LoopCarryover& memory);

 private:
  // The operation that has just ended.
  enum class Boundary { kStep, kEvaluation, kEpoch };

  Result<LoopEnd> RunFromHere();
  Boundary BoundaryAtPosition() const;
  TrainState& ForHook();
  Status AfterHook(Status told);
  Status AgreeOnFinish();
  bool AtHorizon() const;
  bool LastStepDone() const;
  bool ExecutionEnds() const;
  bool ExecutionEndsEpoch() const;
  uint64_t StepBeforeExecution() const;
  bool StopStepReached() const;
  bool SaveWasDueInExecution() const;
  bool SaveDue(Boundary boundary) const;
  bool SavesBeforeLeaving() const;
  uint32_t Requests(std::span<const Operation> ahead);
  Status RunOperation();
  Status RunExecution();
  Status RunStep();
  void InjectPlantedCrash();
  Status RunEvaluation();
  Status EndEpoch();
  // Adds the work due after an operation to the requests that the workers
  // agreed on.
  void NoteDue(Boundary boundary);
  // Takes the requests of all workers from an exchange.
  void OnRequestsAgreed(uint32_t requests);
  // Makes the saves and stops that are due by now.
  Status RunDueActions();
  Status RunDueRequests();
  bool Ends() const { return stopped_ || watch_.stops(); }
  Result<LoopEnd> EndEarly();
  Status EmitState(EventKind kind, const StepOutcome& outcome, uint64_t epoch);
  // Reports the points that the summary could not write.
  void SaySummaryWarnings();
  bool DigestDue() const;

  World* world_;
  const TrainOptions* options_;
  Trainer* trainer_;
  TrainState* state_;
  RunSummary* summary_ = nullptr;
  LoopHooks* hooks_ = nullptr;
  bool finish_ = false;  // the hooks wish it
  uint64_t generation_ = 0;
  uint32_t agreed_ = 0;                   // requests that are not yet settled
  SaveNeed save_need_ = SaveNeed::kNone;  // since a generation before
  bool stop_step_reached_ = false;
  NoticeRequests notices_;
  bool stopped_ = false;
  Position said_;  // of the newest state in the events
  TimeTotals times_;
  LoopReports reports_;
  LoopSaves saves_;
  FinitenessWatch watch_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_TRAINING_LOOP_H_
