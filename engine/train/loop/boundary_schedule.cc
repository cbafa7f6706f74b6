#include "engine/train/loop/boundary_schedule.h"

#include <algorithm>

namespace gauntlet {

LoopBoundary BoundarySchedule::AtPosition() const {
  switch (position_.phase_of()) {
    case Phase::kEvaluationDue:
      return LoopBoundary::kStep;
    case Phase::kCallbacksDue:
      return LoopBoundary::kEvaluation;
    case Phase::kInEpoch:
      break;
  }
  return position_.sample == 0 ? LoopBoundary::kEpoch : LoopBoundary::kStep;
}

bool BoundarySchedule::AtHorizon() const {
  const Horizon& horizon = options_.horizon;
  return position_.phase_of() == Phase::kInEpoch &&
         (position_.epoch >= horizon.epochs ||
          (horizon.max_steps && position_.step >= *horizon.max_steps));
}

bool BoundarySchedule::LastStepDone() const {
  const Horizon& horizon = options_.horizon;
  return AtHorizon() || horizon.max_steps == position_.step ||
         (position_.phase_of() != Phase::kInEpoch &&
          position_.epoch + 1 >= horizon.epochs);
}

bool BoundarySchedule::ExecutionEnds() const {
  return position_.step % options_.steps_per_execution == 0 ||
         position_.phase_of() != Phase::kInEpoch || position_.sample == 0 ||
         AtHorizon();
}

bool BoundarySchedule::ExecutionEndsEpoch() const {
  const uint64_t in_execution = options_.steps_per_execution -
                                position_.step % options_.steps_per_execution;
  return samples_.StepsLeft(position_.sample) <= in_execution;
}

bool BoundarySchedule::SaveDue(LoopBoundary boundary) const {
  const SaveTrigger& trigger = options_.checkpoint.trigger;
  switch (trigger.unit) {
    case SaveUnit::kSteps:
      return boundary == LoopBoundary::kStep &&
             position_.step % trigger.every == 0;
    case SaveUnit::kEpochs:
      return boundary == LoopBoundary::kEpoch &&
             position_.epoch % trigger.every == 0;
    case SaveUnit::kSeconds:  // the chief requests it
    case SaveUnit::kNone:
      return false;
  }
  return false;
}

bool BoundarySchedule::StopDue(LoopBoundary boundary) const {
  return boundary == LoopBoundary::kStep &&
         options_.horizon.stop_at_step == position_.step;
}

bool BoundarySchedule::SaveWasDueInExecution() const {
  const SaveTrigger& trigger = options_.checkpoint.trigger;
  if (trigger.unit != SaveUnit::kSteps || AtPosition() != LoopBoundary::kStep) {
    return false;
  }
  const uint64_t last_due = position_.step / trigger.every * trigger.every;
  return last_due > StepBeforeExecution();
}

bool BoundarySchedule::StopWasDueInExecution() const {
  return AtPosition() == LoopBoundary::kStep &&
         options_.horizon.stop_at_step > StepBeforeExecution() &&
         options_.horizon.stop_at_step <= position_.step;
}

uint64_t BoundarySchedule::StepBeforeExecution() const {
  const uint64_t epoch_began = position_.step - samples_.steps_per_epoch() +
                               samples_.StepsLeft(position_.sample);
  const uint64_t execution_began = (position_.step - 1) /
                                   options_.steps_per_execution *
                                   options_.steps_per_execution;
  return std::max(epoch_began, execution_began);
}

}  // namespace gauntlet
