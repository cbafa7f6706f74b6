#include "engine/api/preemption_handler.h"

#include <array>
#include <span>
#include <utility>

namespace gauntlet {

PreemptionCheckpointHandler::PreemptionCheckpointHandler(
    CustomTraining& training, CheckpointManager& manager,
    const PreemptionOptions& options, NoticeSources::ReportLine report)
    : training_(&training),
      manager_(&manager),
      watch_(training.world(), options, std::move(report)),
      notices_(watch_.world(), options.grace, SavesBeforeExit::kOne) {
  watch_.Start();
}

// Returns this worker's requests. The time that the caller spends between two
// calls of Run counts as an evaluation if the epoch has just ended. Otherwise
// it counts as part of the next step.
uint32_t PreemptionCheckpointHandler::NextRequests() {
  constexpr std::array kSteps = {Operation::kStep, Operation::kStep};
  constexpr std::array kLastStep = {Operation::kStep, Operation::kEvaluation,
                                    Operation::kStep};
  const bool last = training_->steps_left() == 1;
  return notices_.NextRequests(
      training_->generation(), training_->step(),
      last ? std::span<const Operation>(kLastStep) : std::span(kSteps));
}

Result<HandledStep> PreemptionCheckpointHandler::Run() {
  ++total_run_calls_;
  const Clock& clock = training_->world().clock;
  Time begin = clock.Now();
  if (epoch_was_done_) {
    notices_.RecordOperation(Operation::kEvaluation, begin - *last_end_);
  } else {
    begin = last_end_.value_or(begin);
  }
  ASSIGN_OR_RETURN(const float loss,
                   training_->Step([this] { return NextRequests(); }));
  const Time end = clock.Now();
  notices_.RecordOperation(Operation::kStep, end - begin);
  HandledStep step = {.loss = loss,
                      .stopped = (training_->agreed() & kRequestStop) != 0};
  if (training_->agreed() != 0) {
    const Status saved = manager_->Save().status();
    if (step.stopped || !CanContinueAfter(saved)) RETURN_IF_ERROR(saved);
    notices_.RecordSave(clock.Now() - end);
  }
  last_end_ = clock.Now();
  epoch_was_done_ = training_->EpochDone();
  return step;
}

}  // namespace gauntlet
