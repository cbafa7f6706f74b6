#include "engine/api/preemption_handler.h"

#include <utility>

namespace gauntlet {

PreemptionCheckpointHandler::PreemptionCheckpointHandler(
    CustomTraining& training, CheckpointManager& manager,
    const PreemptionOptions& options, NoticeWatch::Say say)
    : training_(&training),
      manager_(&manager),
      watch_(training.world(), options, std::move(say)),
      notices_(watch_.world(), options.grace, LeaveWith::kSave) {
  watch_.Start();
}

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
