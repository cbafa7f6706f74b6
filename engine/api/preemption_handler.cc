#include "engine/api/preemption_handler.h"

namespace gauntlet {

PreemptionCheckpointHandler::PreemptionCheckpointHandler(
    CustomTraining& training, CheckpointManager& manager,
    const PreemptionOptions& options)
    : training_(&training),
      manager_(&manager),
      notices_(training.world(), options.grace, LeaveWith::kSave) {}

Result<HandledStep> PreemptionCheckpointHandler::Run() {
  ++total_run_calls_;
  const Clock& clock = training_->world().clock;
  const Time begin = clock.Now();
  const uint32_t asked =
      notices_.Ask(training_->generation(), training_->step());
  ASSIGN_OR_RETURN(const float loss, training_->Step(asked));
  const Time end = clock.Now();
  notices_.OperationTook(end - begin);
  HandledStep step = {.loss = loss,
                      .stopped = (training_->agreed() & kRequestStop) != 0};
  if (training_->agreed() != 0) {
    RETURN_IF_ERROR(manager_->Save().status());
    notices_.SaveTook(clock.Now() - end);
  }
  return step;
}

}  // namespace gauntlet
