#include "engine/train/loop/training_loop.h"

#include <array>
#include <bit>
#include <utility>

#include "engine/finite.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the number of saves before the exit. With asynchronous saves there
// may be three: one in flight, a periodic save that becomes due before the stop
// and waits for the first, and the last save, which waits for both.
SavesBeforeExit SavesBeforeExitOf(const TrainOptions& options,
                                  const SaveStrategy& saves) {
  if (saves.sync == nullptr ||
      options.checkpoint.at_notice == OnPreemption::kExit) {
    return SavesBeforeExit::kNone;
  }
  return saves.async == nullptr ? SavesBeforeExit::kOne
                                : SavesBeforeExit::kThree;
}

}  // namespace

TrainingLoop::TrainingLoop(const Parts& parts, const SaveStrategy& saves)
    : world_(&parts.world),
      options_(&parts.options),
      trainer_(&parts.trainer),
      resident_(&parts.resident),
      state_(&parts.resident.host()),
      schedule_(parts.options, state_->position, parts.trainer.schedule()),
      notices_(parts.world, parts.options.preemption.grace,
               SavesBeforeExitOf(parts.options, saves)),
      reported_(state_->position),
      reports_(parts.world, parts.options, *state_),
      saves_({.world = parts.world,
              .options = parts.options,
              .resident = parts.resident,
              .notices = notices_,
              .reports = reports_,
              .times = times_},
             saves),
      watch_({.world = parts.world,
              .options = parts.options,
              .resident = parts.resident,
              .reports = reports_,
              .saves = saves_}) {}

void TrainingLoop::Enter(LoopState state) {
  CHECK(MayFollow(loop_state_, state), "not a transition of loop_state.h");
  loop_state_ = state;
}

void TrainingLoop::Restore(const LoopCarryover& carryover) {
  CheckIsNew();
  notices_ = carryover.notices;
  saves_.SetLastSave(carryover.last_save);
  save_need_ = carryover.save_need;
  times_ = carryover.times;
}

Status TrainingLoop::Begin(uint64_t generation) {
  Enter(LoopState::kTraining);
  generation_ = generation;
  ASSIGN_OR_RETURN(const bool must_stop, watch_.Begin(generation));
  if (must_stop) Enter(LoopState::kNotFinite);
  return OkStatus();
}

Result<LoopEnd> TrainingLoop::Run(uint64_t generation) {
  RETURN_IF_ERROR(Begin(generation));
  return RunFromHere();
}

Result<LoopEnd> TrainingLoop::ResumeFromMemory(uint64_t generation,
                                               FirstSave first_save) {
  RETURN_IF_ERROR(Begin(generation));
  if (trains() && state_->position.step > 0) {
    RETURN_IF_ERROR(RepeatBoundary(first_save));
  }
  return RunFromHere();
}

// Repeats the work due at the boundary of the state. If that boundary is within
// an execution, and no save is required immediately, postpones the work to the
// end of the execution.
Status TrainingLoop::RepeatBoundary(FirstSave first_save) {
  if (schedule_.SaveDue(schedule_.AtPosition()) ||
      schedule_.SaveWasDueInExecution()) {
    agreed_ |= kRequestSave;
  }
  stop_due_ = schedule_.StopWasDueInExecution();
  ASSIGN_OR_RETURN(save_need_, saves_.AnySaveNeed(save_need_));
  const bool at_once = save_need_ == SaveNeed::kRequired ||
                       first_save == FirstSave::kImmediately;
  if (!schedule_.ExecutionEnds() && !at_once) {
    // All workers save at the end of the execution: the requests that workers
    // made within the execution are lost, and one of them may have been a
    // request to save.
    agreed_ |= kRequestSave;
    return OkStatus();
  }
  if (at_once) agreed_ |= kRequestSave;
  RETURN_IF_ERROR(RunDueActions());
  save_need_ = SaveNeed::kNone;
  return OkStatus();
}

Result<LoopEnd> TrainingLoop::RunFromHere() {
  if (trains()) RETURN_IF_ERROR(RunOperations());
  if (loop_state_ == LoopState::kFinishing) RETURN_IF_ERROR(Finish());
  // Completes the save in flight even in kNotFinite: that save writes an
  // earlier state, which may be finite.
  RETURN_IF_ERROR(saves_.FinishInFlightSave());
  RETURN_IF_ERROR(saves_.EndRetirement());
  switch (loop_state_) {
    case LoopState::kNew:
    case LoopState::kTraining:
      break;
    case LoopState::kFinishing:
      return LoopEnd::kFinished;
    case LoopState::kStopping:
      return LoopEnd::kStopped;
    case LoopState::kNotFinite:
      return LoopEnd::kNotFinite;
  }
  CheckFailed(__FILE__, __LINE__, "loop_state_", "the run has not ended");
}

// Runs operations until the horizon, or until the loop has left kTraining.
Status TrainingLoop::RunOperations() {
  if (hooks_ != nullptr) {
    ASSIGN_OR_RETURN(TrainState* const state, ForHook());
    RETURN_IF_ERROR(hooks_->TrainBegin(*state));
    RETURN_IF_ERROR(AgreeOnFinish());
  }
  while (trains() && !schedule_.AtHorizon()) RETURN_IF_ERROR(RunOperation());
  if (trains()) Enter(LoopState::kFinishing);
  return OkStatus();
}

// Completes the save in flight, and makes the last save.
Status TrainingLoop::Finish() {
  RETURN_IF_ERROR(saves_.FinishInFlightSave());
  EndOnNonFiniteSave();
  if (loop_state_ == LoopState::kNotFinite) return OkStatus();
  if (hooks_ != nullptr) RETURN_IF_ERROR(hooks_->TrainEnd(*state_));
  const bool keep =
      options_->checkpoint.at_success == AtSuccess::kSaveFinalState;
  if (saves_.has_store() && keep) RETURN_IF_ERROR(saves_.SaveFinalState());
  EndOnNonFiniteSave();
  return OkStatus();
}

void TrainingLoop::EndOnNonFiniteSave() {
  if (watch_.CheckSaves()) Enter(LoopState::kNotFinite);
}

// Runs an execution, an evaluation or the end of an epoch, with the saves that
// are due after it.
Status TrainingLoop::RunOperation() {
  CHECK(trains(), "an operation follows the end of training");
  const Time begin = world_->clock.Now();
  static_cast<void>(saves_.TakeTime());
  Operation operation = Operation::kStep;
  switch (state_->position.phase_of()) {
    case Phase::kInEpoch:
      RETURN_IF_ERROR(RunExecution());
      break;
    case Phase::kEvaluationDue:
      operation = Operation::kEvaluation;
      RETURN_IF_ERROR(RunEvaluation());
      break;
    case Phase::kCallbacksDue:
      operation = Operation::kEpochEnd;
      RETURN_IF_ERROR(EndEpoch());
      break;
  }
  notices_.RecordOperation(operation,
                           world_->clock.Now() - begin - saves_.TakeTime());
  return OkStatus();
}

uint32_t TrainingLoop::Requests(std::span<const Operation> ahead) {
  uint32_t requests =
      notices_.NextRequests(generation_, state_->position.step, ahead);
  const SaveTrigger& trigger = options_->checkpoint.trigger;
  // Only the chief requests timed saves: other workers have other clocks.
  if (trigger.unit == SaveUnit::kSeconds && reports_.has_reporter() &&
      world_->clock.Now() - saves_.last_save() >=
          std::chrono::seconds(trigger.every)) {
    requests |= kRequestSave;
  }
  return requests | saves_.Bits();
}

void TrainingLoop::OnRequestsAgreed(uint32_t requests) {
  agreed_ |= requests & ~kSaveBits;
  saves_.OnRequestsAgreed(requests);
}

Status TrainingLoop::RunExecution() {
  bool ends = false;
  while (!ends) {
    RETURN_IF_ERROR(RunStep());
    if (!trains()) return OkStatus();
    ends = schedule_.ExecutionEnds();
    if (ends) RETURN_IF_ERROR(RunDueActions());
    if (hooks_ != nullptr) RETURN_IF_ERROR(hooks_->StepSettled(*state_));
  }
  return OkStatus();
}

Status TrainingLoop::RunStep() {
  reports_.AnnounceReportWithin(options_->cluster.step_timeout);
  if (state_->position.sample == 0) {
    RETURN_IF_ERROR(world_->faults.Hit(
        Point::kEpochBegin,
        {.step = state_->position.step + 1, .epoch = state_->position.epoch}));
  }
  SetCheckPosition({.seed = options_->job.seed,
                    .rank = trainer_->rank(),
                    .step = state_->position.step});
  const uint64_t epoch = state_->position.epoch;
  if (hooks_ != nullptr && state_->position.sample == 0) {
    ASSIGN_OR_RETURN(TrainState* const state, ForHook());
    RETURN_IF_ERROR(hooks_->EpochBegin(*state));
  }
  const std::array ahead = {Operation::kStep, schedule_.ExecutionEndsEpoch()
                                                  ? Operation::kEvaluation
                                                  : Operation::kStep};
  ASSIGN_OR_RETURN(const StepOutcome outcome,
                   trainer_->Step(
                       *resident_, [&] { return Requests(ahead); },
                       options_->cluster.step_timeout));
  OnRequestsAgreed(outcome.tally.requests);
  if (world_->faults.Planted(PlantedBug::kDieInAStep)) InjectPlantedCrash();
  if (hooks_ != nullptr) {
    ASSIGN_OR_RETURN(TrainState* const state, ForHook());
    RETURN_IF_ERROR(hooks_->StepEnd(*state, outcome));
  }
  RETURN_IF_ERROR(EmitState(EventKind::kStep, outcome, epoch));
  reports_.ReportStep(outcome);
  if (watch_.CheckLoss(outcome.loss)) Enter(LoopState::kNotFinite);
  if (summary_ != nullptr) {
    summary_->StepDone(state_->position.step, outcome.loss);
    ReportSummaryWarnings();
  }
  if (state_->position.phase_of() != Phase::kInEpoch) {
    RETURN_IF_ERROR(world_->faults.Hit(
        Point::kEpochEnd, {.step = state_->position.step, .epoch = epoch}));
  }
  NoteDue(LoopBoundary::kStep);
  return OkStatus();
}

// Planted bug: rank 1 of generation 1 exits in a step between two saves. It
// exits only once, as a restart leads to a later generation.
void TrainingLoop::InjectPlantedCrash() {
  constexpr uint64_t kStep = 7;
  constexpr int kGone = 70;
  if (generation_ == 1 && trainer_->rank() == 1 &&
      state_->position.step == kStep) {
    world_->host.Exit(kGone);
  }
}

Status TrainingLoop::RunEvaluation() {
  const uint64_t epoch = state_->position.epoch;
  static constexpr std::array kAhead = {Operation::kEvaluation,
                                        Operation::kEpochEnd, Operation::kStep};
  reports_.AnnounceReportWithin(options_->cluster.step_timeout);
  ASSIGN_OR_RETURN(const StepOutcome outcome,
                   trainer_->Evaluate(
                       *resident_, [this] { return Requests(kAhead); },
                       options_->cluster.step_timeout));
  OnRequestsAgreed(outcome.tally.requests);
  trainer_->times().Lap(TimePart::kEvaluate);
  RETURN_IF_ERROR(EmitState(EventKind::kEvaluated, outcome, epoch));
  watch_.CheckValidation(outcome.loss);
  NoteDue(LoopBoundary::kEvaluation);
  return RunDueActions();
}

Status TrainingLoop::EndEpoch() {
  const uint64_t epoch = state_->position.epoch;
  RETURN_IF_ERROR(trainer_->EndEpoch(*resident_));
  if (hooks_ != nullptr) {
    ASSIGN_OR_RETURN(TrainState* const state, ForHook());
    RETURN_IF_ERROR(hooks_->EpochEnd(*state));
  }
  StepOutcome outcome = {.loss = state_->history.loss.back()};
  outcome.tally.correct = state_->history.correct.back();
  RETURN_IF_ERROR(EmitState(EventKind::kEpochEnd, outcome, epoch));
  reports_.ReportEpoch(outcome);
  if (summary_ != nullptr) {
    summary_->EpochDone(*state_);
    ReportSummaryWarnings();
  }
  NoteDue(LoopBoundary::kEpoch);
  RETURN_IF_ERROR(RunDueActions());
  if (hooks_ == nullptr) return OkStatus();
  RETURN_IF_ERROR(hooks_->EpochSettled(*state_));
  return trains() ? AgreeOnFinish() : OkStatus();
}

// Returns the newest state for a hook, which may change the state in place. If
// training uses a device, the next access of training uploads the large arrays
// again.
Result<TrainState*> TrainingLoop::ForHook() {
  RETURN_IF_ERROR(resident_->SyncForHostUpdate());
  resident_->host().OwnLargeArrays();
  return &resident_->host();
}

// Ends training on all workers if a hook of any worker requests the end. The
// hooks see the same state on all workers, and should make the same request. If
// their requests differ, the exchange ensures that no worker waits for one that
// has finished.
Status TrainingLoop::AgreeOnFinish() {
  ASSIGN_OR_RETURN(const bool finish,
                   trainer_->AnyVotesToFinish(*state_, hooks_->Vote(),
                                              options_->cluster.step_timeout));
  if (finish) Enter(LoopState::kFinishing);
  return OkStatus();
}

void TrainingLoop::NoteDue(LoopBoundary boundary) {
  if (schedule_.SaveDue(boundary)) agreed_ |= kRequestSave;
  if (schedule_.StopDue(boundary)) stop_due_ = true;
}

bool TrainingLoop::SavesBeforeLeaving() const {
  return (agreed_ & kRequestStop) == 0 ||
         options_->checkpoint.at_notice == OnPreemption::kSaveAndExit;
}

Status TrainingLoop::RunDueActions() {
  CHECK(trains(), "a save or stop is due after the end of training");
  trainer_->times().Lap(TimePart::kOther);
  const Status status = RunDueRequests();
  trainer_->times().Lap(saves_.took_time() ? TimePart::kSave
                                           : TimePart::kOther);
  EndOnNonFiniteSave();
  return status;
}

Status TrainingLoop::RunDueRequests() {
  // After the last step, a stop is pointless: at most an evaluation and the end
  // of the epoch are left. The run saves this step, in case the evaluation
  // exceeds the grace period, and finishes.
  const bool stop_requested = (agreed_ & kRequestStop) != 0;
  const bool stops = (stop_due_ || stop_requested) && !schedule_.LastStepDone();
  bool save = (agreed_ & kRequestSave) != 0;
  if (stops) {
    save = SavesBeforeLeaving();
  } else if (stop_requested && !schedule_.AtHorizon()) {
    save = save || SavesBeforeLeaving();
  }
  agreed_ &= ~kRequestSave;
  if (stops) {
    Enter(LoopState::kStopping);
    world_->events.Emit({.kind = EventKind::kStopAgreed,
                         .generation = generation_,
                         .step = state_->position.step,
                         .epoch = state_->position.epoch});
  }
  RETURN_IF_ERROR(saves_.Advance());
  if (!save || !saves_.has_store()) {
    return stops ? saves_.FinishInFlightSave() : OkStatus();
  }
  if (stops) {
    return saves_.SaveBeforeStop(stop_requested ? StopCause::kNotice
                                                : StopCause::kStep);
  }
  return stop_requested ? saves_.SaveImmediately() : saves_.SaveDue();
}

void TrainingLoop::ReportSummaryWarnings() {
  for (std::string& warning : summary_->TakeWarnings()) {
    reports_.ReportLine(std::move(warning));
  }
}

bool TrainingLoop::DigestDue() const {
  return options_->digest_every > 0 &&
         state_->position.step % options_->digest_every == 0;
}

Status TrainingLoop::EmitState(EventKind kind, const StepOutcome& outcome,
                               uint64_t epoch) {
  std::optional<Digest> digest;
  if (DigestDue()) {
    ASSIGN_OR_RETURN(digest, resident_->NewestDigest());
  }
  std::vector<PartTime> parts;
  if (kind == EventKind::kStep) {
    trainer_->times().Lap(TimePart::kOther);
    parts = trainer_->times().Take();
    times_.AddStep(parts);
    if (summary_ != nullptr) summary_->AddStepTimes(parts);
  }
  world_->events.Emit(
      {.kind = kind,
       .generation = generation_,
       .step = state_->position.step,
       .epoch = epoch,
       .position = outcome.first_position,
       .phase = state_->position.phase_of(),
       .count = outcome.tally.correct,
       .loss_bits = std::bit_cast<uint32_t>(CanonicalNan(outcome.loss)),
       .digest = digest,
       .samples =
           options_->log_samples ? outcome.samples : std::vector<uint32_t>(),
       .parts = std::move(parts)});
  reported_ = state_->position;
  return OkStatus();
}

}  // namespace gauntlet
