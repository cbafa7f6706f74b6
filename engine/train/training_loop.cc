#include "engine/train/training_loop.h"

#include <bit>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kReportEvery = std::chrono::milliseconds(200);

// NaN has many bit patterns, and which one comes out may depend on the path.
uint32_t CanonicalBits(float value) {
  constexpr uint32_t kNan = 0x7fc00000;
  return value == value ? std::bit_cast<uint32_t>(value) : kNan;
}

}  // namespace

TrainingLoop::TrainingLoop(World& world, const TrainOptions& options,
                           Trainer& trainer, TrainState& state,
                           CollectiveSave* save)
    : world_(&world),
      options_(&options),
      trainer_(&trainer),
      state_(&state),
      save_(save),
      notices_(
          world, options.preemption.grace,
          save == nullptr || options.checkpoint.at_notice == AtNotice::kLeave
              ? LeaveWith::kNothing
              : LeaveWith::kSave),
      said_(state.position),
      last_save_(world.clock.Now()),
      last_report_(world.clock.Now() - kReportEvery) {}

void TrainingLoop::ReportTo(ProgressReporter& reporter,
                            uint64_t steps_per_epoch) {
  reporter_ = &reporter;
  steps_per_epoch_ = steps_per_epoch;
}

bool TrainingLoop::AtHorizon() const {
  const Position& position = state_->position;
  return position.phase_of() == Phase::kInEpoch &&
         (position.epoch >= options_->horizon.epochs ||
          (options_->horizon.max_steps &&
           position.step >= *options_->horizon.max_steps));
}

void TrainingLoop::Remember(const LoopMemory& memory) {
  notices_ = memory.notices;
  last_save_ = memory.last_save;
}

// What ended where the state stands.
TrainingLoop::Boundary TrainingLoop::LastBoundary() const {
  switch (state_->position.phase_of()) {
    case Phase::kEvaluationDue:
      return Boundary::kStep;
    case Phase::kCallbacksDue:
      return Boundary::kEvaluation;
    case Phase::kInEpoch:
      break;
  }
  return state_->position.sample == 0 ? Boundary::kEpoch : Boundary::kStep;
}

Result<LoopEnd> TrainingLoop::GoOn(uint64_t generation) {
  generation_ = generation;
  if (state_->position.step > 0) {
    NoteDue(LastBoundary());
    if (ExecutionEnds()) {
      RETURN_IF_ERROR(Settle());
    } else {
      // What was due within it is not known any more.
      agreed_ |= kRequestSave;
    }
  }
  if (stopped_) return LoopEnd::kStopped;
  return Run(generation);
}

Result<LoopEnd> TrainingLoop::Run(uint64_t generation) {
  generation_ = generation;
  if (hooks_ != nullptr) {
    RETURN_IF_ERROR(hooks_->TrainBegin(*state_));
    RETURN_IF_ERROR(AgreeOnFinish());
  }
  while (!AtHorizon() && !finish_) {
    RETURN_IF_ERROR(RunOperation());
    if (stopped_) return LoopEnd::kStopped;
  }
  if (hooks_ != nullptr) RETURN_IF_ERROR(hooks_->TrainEnd(*state_));
  const bool keep =
      options_->checkpoint.at_success == AtSuccess::kKeepCheckpoints;
  if (save_ != nullptr && keep) RETURN_IF_ERROR(SaveNow(SaveNeed::kLast));
  return LoopEnd::kFinished;
}

// Takes the position one phase or execution on, with the saves that are due
// then.
Status TrainingLoop::RunOperation() {
  const Time begin = world_->clock.Now();
  saving_ = Duration();
  switch (state_->position.phase_of()) {
    case Phase::kInEpoch:
      RETURN_IF_ERROR(RunExecution());
      break;
    case Phase::kEvaluationDue:
      RETURN_IF_ERROR(RunEvaluation());
      break;
    case Phase::kCallbacksDue:
      RETURN_IF_ERROR(EndEpoch());
      break;
  }
  notices_.OperationTook(world_->clock.Now() - begin - saving_);
  return OkStatus();
}

uint32_t TrainingLoop::Requests() {
  uint32_t requests = notices_.Ask(generation_, state_->position.step);
  const SaveTrigger& trigger = options_->checkpoint.trigger;
  // Only the chief's clock counts, so that one worker asks, and once.
  if (trigger.unit == SaveUnit::kSeconds && reporter_ != nullptr &&
      world_->clock.Now() - last_save_ >= std::chrono::seconds(trigger.every)) {
    requests |= kRequestSave;
  }
  return requests;
}

Status TrainingLoop::RunExecution() {
  bool ends = false;
  while (!ends) {
    RETURN_IF_ERROR(RunStep());
    ends = ExecutionEnds();
    if (ends) RETURN_IF_ERROR(Settle());
    if (hooks_ != nullptr) RETURN_IF_ERROR(hooks_->StepSettled(*state_));
  }
  return OkStatus();
}

Status TrainingLoop::RunStep() {
  Expect(options_->cluster.step_timeout);
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
    RETURN_IF_ERROR(hooks_->EpochBegin(*state_));
  }
  ASSIGN_OR_RETURN(
      const StepOutcome outcome,
      trainer_->Step(*state_, Requests(), options_->cluster.step_timeout));
  agreed_ |= outcome.tally.requests;
  if (world_->faults.Planted(PlantedBug::kDieInAStep)) DieOnce();
  if (hooks_ != nullptr) RETURN_IF_ERROR(hooks_->StepEnd(*state_, outcome));
  EmitState(EventKind::kStep, outcome, epoch);
  Report(outcome);
  if (summary_ != nullptr) {
    summary_->StepDone(state_->position.step, outcome.loss);
    SaySummaryWarnings();
  }
  if (state_->position.phase_of() != Phase::kInEpoch) {
    RETURN_IF_ERROR(world_->faults.Hit(
        Point::kEpochEnd, {.step = state_->position.step, .epoch = epoch}));
  }
  NoteDue(Boundary::kStep);
  return OkStatus();
}

// The second worker, in a step between two saves: what starts again after it is
// of a later generation.
void TrainingLoop::DieOnce() {
  constexpr uint64_t kStep = 7;
  constexpr int kGone = 70;
  if (generation_ == 1 && trainer_->rank() == 1 &&
      state_->position.step == kStep) {
    world_->host.Exit(kGone);
  }
}

Status TrainingLoop::RunEvaluation() {
  const uint64_t epoch = state_->position.epoch;
  Expect(options_->cluster.step_timeout);
  ASSIGN_OR_RETURN(
      const StepOutcome outcome,
      trainer_->Evaluate(*state_, Requests(), options_->cluster.step_timeout));
  agreed_ |= outcome.tally.requests;
  EmitState(EventKind::kEvaluated, outcome, epoch);
  NoteDue(Boundary::kEvaluation);
  return Settle();
}

Status TrainingLoop::EndEpoch() {
  const uint64_t epoch = state_->position.epoch;
  trainer_->EndEpoch(*state_);
  if (hooks_ != nullptr) RETURN_IF_ERROR(hooks_->EpochEnd(*state_));
  StepOutcome outcome = {.loss = state_->history.loss.back()};
  outcome.tally.correct = state_->history.correct.back();
  EmitState(EventKind::kEpochEnd, outcome, epoch);
  if (reporter_ != nullptr) {
    const History& history = state_->history;
    reporter_->Progress(
        {.step = state_->position.step,
         .epoch = state_->position.epoch,
         .steps_per_epoch = steps_per_epoch_,
         .loss = outcome.loss,
         .line = fmt::format(
             "epoch {}{}  step {}  loss {:.4f}  accuracy {:.4f}  "
             "val_loss {:.4f}  val_accuracy {:.4f}",
             state_->position.epoch,
             // Where steps are the goal, no number of epochs is.
             options_->horizon.max_steps
                 ? ""
                 : fmt::format("/{}", options_->horizon.epochs),
             state_->position.step, history.loss.back(),
             ShareOf(history.correct.back(), history.rows.back()),
             history.val_loss.back(),
             ShareOf(history.val_correct.back(), history.val_rows.back()))});
  }
  if (summary_ != nullptr) {
    summary_->EpochDone(*state_);
    SaySummaryWarnings();
  }
  NoteDue(Boundary::kEpoch);
  RETURN_IF_ERROR(Settle());
  if (hooks_ == nullptr) return OkStatus();
  RETURN_IF_ERROR(hooks_->EpochSettled(*state_));
  return stopped_ ? OkStatus() : AgreeOnFinish();
}

// The hooks of each worker see the same state, and should wish the same. Where
// they do not, all the same none of the workers is left waiting for another.
Status TrainingLoop::AgreeOnFinish() {
  ASSIGN_OR_RETURN(finish_,
                   trainer_->AnyWishesToFinish(*state_, hooks_->Wish(),
                                               options_->cluster.step_timeout));
  return OkStatus();
}

// Stopping when only the last evaluation is left gains nothing: a notice at the
// last step is a finished run.
bool TrainingLoop::LastStepDone() const {
  const Position& position = state_->position;
  const Horizon& horizon = options_->horizon;
  return AtHorizon() || horizon.max_steps == position.step ||
         (position.phase_of() != Phase::kInEpoch &&
          position.epoch + 1 >= horizon.epochs);
}

bool TrainingLoop::ExecutionEnds() const {
  const Position& position = state_->position;
  return position.step % options_->steps_per_execution == 0 ||
         position.phase_of() != Phase::kInEpoch || AtHorizon();
}

bool TrainingLoop::SaveDue(Boundary boundary) const {
  const SaveTrigger& trigger = options_->checkpoint.trigger;
  switch (trigger.unit) {
    case SaveUnit::kSteps:
      return boundary == Boundary::kStep &&
             state_->position.step % trigger.every == 0;
    case SaveUnit::kEpochs:
      return boundary == Boundary::kEpoch &&
             state_->position.epoch % trigger.every == 0;
    case SaveUnit::kSeconds:  // rides as a request
    case SaveUnit::kNone:
      return false;
  }
  return false;
}

void TrainingLoop::NoteDue(Boundary boundary) {
  if (SaveDue(boundary)) agreed_ |= kRequestSave;
  if (boundary == Boundary::kStep &&
      options_->horizon.stop_at_step == state_->position.step) {
    stop_step_reached_ = true;
  }
}

bool TrainingLoop::SavesBeforeLeaving() const {
  return (agreed_ & kRequestStop) == 0 ||
         options_->checkpoint.at_notice == AtNotice::kSaveAndLeave;
}

Status TrainingLoop::Settle() {
  const bool stop = stop_step_reached_ || (agreed_ & kRequestStop) != 0;
  stopped_ = stop && !LastStepDone();
  const bool save =
      stopped_ ? SavesBeforeLeaving() : (agreed_ & kRequestSave) != 0;
  agreed_ &= ~kRequestSave;
  if (stopped_) {
    world_->events.Emit({.kind = EventKind::kStopAgreed,
                         .generation = generation_,
                         .step = state_->position.step,
                         .epoch = state_->position.epoch});
  }
  if (save && save_ != nullptr) {
    RETURN_IF_ERROR(SaveNow(stopped_ ? SaveNeed::kLast : SaveNeed::kOneOfMany));
  }
  return OkStatus();
}

Status TrainingLoop::SaveNow(SaveNeed need) {
  const Position& position = state_->position;
  if (saved_at_ == position.step && saved_phase_ == position.phase) {
    return OkStatus();
  }
  Expect(options_->cluster.save_timeout);
  const Time begin = world_->clock.Now();
  if (summary_ != nullptr) summary_->BeforeSave();
  const Status status = save_->Save(*state_);
  for (const std::string& warning : save_->TakeWarnings()) Say(warning);
  last_save_ = world_->clock.Now();
  saving_ += last_save_ - begin;
  notices_.SaveTook(last_save_ - begin);
  if (status.ok()) {
    saved_at_ = position.step;
    saved_phase_ = position.phase;
    return status;
  }
  if (!MayGoOnAfter(status) || need == SaveNeed::kLast) {
    return Annotate(status, fmt::format("save of step {}", position.step));
  }
  Say(fmt::format("save of step {} failed: {}", position.step,
                  status.message()));
  return OkStatus();
}

// A line for people, where somebody listens.
void TrainingLoop::Say(std::string line) {
  if (reporter_ == nullptr) return;
  reporter_->Progress({.step = state_->position.step,
                       .epoch = state_->position.epoch,
                       .steps_per_epoch = steps_per_epoch_,
                       .line = std::move(line)});
}

void TrainingLoop::SaySummaryWarnings() {
  for (std::string& warning : summary_->TakeWarnings()) {
    Say(std::move(warning));
  }
}

// Tells the launcher that what begins now ends within the bound, but for the
// time that the others take to notice first that it does not.
void TrainingLoop::Expect(Duration bound) {
  if (reporter_ == nullptr) return;
  const Time now = world_->clock.Now();
  if (bound == expected_ && now - last_sign_ < kReportEvery) return;
  expected_ = bound;
  last_sign_ = now;
  reporter_->Progress({.patience = bound + options_->cluster.lost_after});
}

bool TrainingLoop::DigestDue() const {
  return options_->digest_every > 0 &&
         state_->position.step % options_->digest_every == 0;
}

void TrainingLoop::EmitState(EventKind kind, const StepOutcome& outcome,
                             uint64_t epoch) {
  LogEvent event = {.kind = kind,
                    .generation = generation_,
                    .step = state_->position.step,
                    .epoch = epoch,
                    .position = outcome.first_position,
                    .phase = state_->position.phase_of(),
                    .count = outcome.tally.correct,
                    .loss_bits = CanonicalBits(outcome.loss)};
  if (DigestDue()) event.digest = state_->ComputeDigest();
  if (options_->log_samples) event.samples = outcome.samples;
  world_->events.Emit(std::move(event));
  said_ = state_->position;
}

void TrainingLoop::Report(const StepOutcome& outcome) {
  if (reporter_ == nullptr) return;
  const Time now = world_->clock.Now();
  if (now - last_report_ < kReportEvery) return;
  last_report_ = now;
  reporter_->Progress({.step = state_->position.step,
                       .epoch = state_->position.epoch,
                       .steps_per_epoch = steps_per_epoch_,
                       .loss = outcome.loss});
}

}  // namespace gauntlet
