#include "engine/train/training_loop.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "engine/train/wait_unless_told.h"
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

Result<LoopEnd> TrainingLoop::GoOn(uint64_t generation, FirstSave first_save) {
  generation_ = generation;
  if (state_->position.step > 0) {
    NoteDue(LastBoundary());
    stop_step_reached_ = StopStepReached();
    const bool at_once = first_save == FirstSave::kAtOnce;
    if (at_once) agreed_ |= kRequestSave;
    if (ExecutionEnds() || at_once) {
      RETURN_IF_ERROR(Settle());
    } else {
      // What was asked for within it is not known any more.
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
  if (save_ != nullptr && keep) RETURN_IF_ERROR(SaveTheEnd());
  return LoopEnd::kFinished;
}

// Takes the position one phase or execution on, with the saves that are due
// then.
Status TrainingLoop::RunOperation() {
  const Time begin = world_->clock.Now();
  saving_ = Duration();
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
  notices_.OperationTook(operation, world_->clock.Now() - begin - saving_);
  return OkStatus();
}

uint32_t TrainingLoop::Requests(std::span<const Operation> ahead) {
  uint32_t requests = notices_.Ask(generation_, state_->position.step, ahead);
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
  const std::array ahead = {Operation::kStep, ExecutionEndsEpoch()
                                                  ? Operation::kEvaluation
                                                  : Operation::kStep};
  ASSIGN_OR_RETURN(const StepOutcome outcome,
                   trainer_->Step(
                       *state_, [&] { return Requests(ahead); },
                       options_->cluster.step_timeout));
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
  static constexpr std::array kAhead = {Operation::kEvaluation,
                                        Operation::kEpochEnd, Operation::kStep};
  Expect(options_->cluster.step_timeout);
  ASSIGN_OR_RETURN(const StepOutcome outcome,
                   trainer_->Evaluate(
                       *state_, [this] { return Requests(kAhead); },
                       options_->cluster.step_timeout));
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
// last step is a finished run, with that step saved in case the evaluation
// takes longer than the grace period.
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

// Whether the execution under way, or about to begin, is its epoch's last one.
bool TrainingLoop::ExecutionEndsEpoch() const {
  const Position& position = state_->position;
  const uint64_t in_execution = options_->steps_per_execution -
                                position.step % options_->steps_per_execution;
  return trainer_->schedule().StepsLeft(position.sample) <= in_execution;
}

// Whether the step to stop at was one of the execution that the state stands in
// or at the end of.
bool TrainingLoop::StopStepReached() const {
  const Position& position = state_->position;
  if (LastBoundary() != Boundary::kStep) return false;
  const RowSchedule& schedule = trainer_->schedule();
  const uint64_t epoch_began = position.step - schedule.steps_per_epoch() +
                               schedule.StepsLeft(position.sample);
  const uint64_t execution_began = (position.step - 1) /
                                   options_->steps_per_execution *
                                   options_->steps_per_execution;
  return options_->horizon.stop_at_step >
             std::max(epoch_began, execution_began) &&
         options_->horizon.stop_at_step <= position.step;
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
  bool save = (agreed_ & kRequestSave) != 0;
  if (stopped_) {
    save = SavesBeforeLeaving();
  } else if ((agreed_ & kRequestStop) != 0 && !AtHorizon()) {
    save = save || SavesBeforeLeaving();
  }
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

Status TrainingLoop::TrySave() {
  const Position& position = state_->position;
  if (saved_at_ == position.step && saved_phase_ == position.phase) {
    return OkStatus();
  }
  Expect(options_->cluster.save_timeout);
  const Time begin = world_->clock.Now();
  if (summary_ != nullptr) summary_->BeforeSave();
  TellOfSave(options_->cluster.save_timeout);
  const Status status = save_->Save(*state_);
  TellOfSave(Duration::zero());
  in_save_ = !status.ok() && !MayGoOnAfter(status);
  for (const std::string& warning : save_->TakeWarnings()) Say(warning);
  last_save_ = world_->clock.Now();
  saving_ += last_save_ - begin;
  notices_.SaveTook(last_save_ - begin);
  if (status.ok()) {
    saved_at_ = position.step;
    saved_phase_ = position.phase;
  }
  return status;
}

Status TrainingLoop::SaveNow(SaveNeed need) {
  const Status status = TrySave();
  if (status.ok()) return status;
  const uint64_t step = state_->position.step;
  if (!MayGoOnAfter(status) || need == SaveNeed::kLast) {
    return Annotate(status, fmt::format("save of step {}", step));
  }
  Say(fmt::format("save of step {} failed: {}", step, status.message()));
  return OkStatus();
}

// All workers know alike how a save came out, and so try equally often.
Status TrainingLoop::SaveTheEnd() {
  constexpr Duration kLongestPause = std::chrono::seconds(16);
  const uint64_t step = state_->position.step;
  Duration pause = std::chrono::seconds(1);
  Status status = TrySave();
  while (MayGoOnAfter(status) && pause <= kLongestPause) {
    Say(fmt::format(
        "save of step {}, the last one, failed: {}; tries again in "
        "{} s",
        step, status.message(),
        std::chrono::duration_cast<std::chrono::seconds>(pause).count()));
    Expect(pause + options_->cluster.step_timeout);
    TellOfSave(pause + options_->cluster.step_timeout);
    // Who is told to go has no time to lose.
    WaitUnlessTold(*world_, world_->clock.Now() + pause);
    pause *= 2;
    status = TrySave();
  }
  return Annotate(status, fmt::format("save of step {}", step));
}

void TrainingLoop::TellOfSave(Duration bound) {
  if (saves_told_ != nullptr) saves_told_->Progress({.saving = bound});
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
