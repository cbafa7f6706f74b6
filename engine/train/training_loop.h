// The loop over steps, evaluations, epochs and saves, once a session stands.
#ifndef GAUNTLET_ENGINE_TRAIN_TRAINING_LOOP_H_
#define GAUNTLET_ENGINE_TRAIN_TRAINING_LOOP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/data/dataset.h"
#include "engine/status.h"
#include "engine/train/collective_save.h"
#include "engine/train/loop_hooks.h"
#include "engine/train/notice_requests.h"
#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/run_summary.h"
#include "engine/train/train_state.h"
#include "engine/train/trainer.h"
#include "engine/world/world.h"

namespace gauntlet {

enum class LoopEnd { kFinished, kStopped };

// What a worker that goes on in another generation takes with it.
struct LoopMemory {
  NoticeRequests notices;
  Time last_save;
  bool all_said = true;  // every operation that the state went through
  bool in_save = false;  // which somebody else may still be in
};

class TrainingLoop {
 public:
  // `save` is null where there is no store. `rank` 0 reports progress.
  TrainingLoop(World& world, const TrainOptions& options, Trainer& trainer,
               TrainState& state, CollectiveSave* save);

  // Where progress goes; without it none is reported.
  void ReportTo(ProgressReporter& reporter, uint64_t steps_per_epoch);

  // Who waits for this worker is told of its saves, which may be long.
  void TellOfSaves(ProgressReporter& reporter) { saves_told_ = &reporter; }

  // Curves are drawn there; on the chief.
  void DrawOn(RunSummary& summary) { summary_ = &summary; }

  // What is called at each boundary; without them nothing is.
  void CallAt(LoopHooks& hooks) { hooks_ = &hooks; }

  // Until the horizon or the hooks' wish (kFinished) or an agreed stop
  // (kStopped), with the last state saved where there is a store. Errors end
  // the run on this worker; a save that fails for want of disk does not, unless
  // it is the last.
  Result<LoopEnd> Run(uint64_t generation);

  // The same from a state in memory: what was due at its boundary, and may have
  // been cut short, comes first; a save too where there is no checkpoint left.
  enum class FirstSave : uint8_t { kWhenDue, kAtOnce };
  Result<LoopEnd> GoOn(uint64_t generation, FirstSave first_save);

  LoopMemory memory() const {
    return {.notices = notices_,
            .last_save = last_save_,
            .all_said = said_.step == state_->position.step &&
                        said_.epoch == state_->position.epoch &&
                        said_.phase == state_->position.phase,
            .in_save = in_save_};
  }
  void Remember(const LoopMemory& memory);

 private:
  // The operation that has just ended.
  enum class Boundary { kStep, kEvaluation, kEpoch };

  Boundary LastBoundary() const;
  Status AgreeOnFinish();
  bool AtHorizon() const;
  bool LastStepDone() const;
  bool ExecutionEnds() const;
  bool ExecutionEndsEpoch() const;
  bool StopStepReached() const;
  bool SaveDue(Boundary boundary) const;
  bool SavesBeforeLeaving() const;
  uint32_t Requests(std::span<const Operation> ahead);
  Status RunOperation();
  Status RunExecution();
  Status RunStep();
  void DieOnce();
  Status RunEvaluation();
  Status EndEpoch();
  // What is due after an operation joins what the workers agreed on.
  void NoteDue(Boundary boundary);
  // The saves and stops that are due by now.
  Status Settle();
  // A save that is only one of many may fail; one that the run ends with may
  // not.
  enum class SaveNeed { kOneOfMany, kLast };
  Status SaveNow(SaveNeed need);
  // The state that training ends with: tried again for a while before all of it
  // is given up.
  Status SaveTheEnd();
  Status TrySave();
  void TellOfSave(Duration bound);
  void EmitState(EventKind kind, const StepOutcome& outcome, uint64_t epoch);
  void Say(std::string line);
  // What the summary could not write.
  void SaySummaryWarnings();
  bool DigestDue() const;
  void Report(const StepOutcome& outcome);
  void Expect(Duration bound);

  World* world_;
  const TrainOptions* options_;
  Trainer* trainer_;
  TrainState* state_;
  CollectiveSave* save_;
  ProgressReporter* reporter_ = nullptr;
  ProgressReporter* saves_told_ = nullptr;
  RunSummary* summary_ = nullptr;
  LoopHooks* hooks_ = nullptr;
  bool finish_ = false;  // the hooks wish it
  uint64_t steps_per_epoch_ = 0;
  uint64_t generation_ = 0;
  uint32_t agreed_ = 0;  // requests that are not yet settled
  bool stop_step_reached_ = false;
  NoticeRequests notices_;
  Duration saving_{0};  // of the operation under way
  bool stopped_ = false;
  bool in_save_ = false;
  std::optional<uint64_t> saved_at_;  // step of the newest save of this life
  uint64_t saved_phase_ = 0;
  Position said_;  // of the newest state that the events tell of
  Time last_save_;
  Time last_report_;
  Duration expected_{0};  // what the launcher was told last, and when
  Time last_sign_{};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_TRAINING_LOOP_H_
