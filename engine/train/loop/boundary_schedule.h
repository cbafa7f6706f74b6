// Determines the kind of boundary at a training position, and the actions that
// are due there.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_BOUNDARY_SCHEDULE_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_BOUNDARY_SCHEDULE_H_

#include <cstdint>

#include "engine/data/sample_schedule.h"
#include "engine/train/options.h"
#include "engine/train/state/train_state.h"

namespace gauntlet {

// Kind of a boundary: the operation that has just ended.
enum class LoopBoundary : uint8_t { kStep, kEvaluation, kEpoch };

// An execution is the series of steps between two boundaries at which workers
// save or stop (TrainOptions::steps_per_execution).
class BoundarySchedule {
 public:
  // The referenced objects outlive the schedule. Each call reads their current
  // values.
  BoundarySchedule(const TrainOptions& options, const Position& position,
                   const SampleSchedule& samples)
      : options_(options), position_(position), samples_(samples) {}

  // Returns the kind of the boundary at the position.
  LoopBoundary AtPosition() const;
  // Returns true iff the job is complete.
  bool AtHorizon() const;
  // Returns true iff no step is left. The last evaluation may still be due.
  bool LastStepDone() const;

  // Returns true iff an execution ends at the position. The end of an epoch and
  // the horizon end an execution too.
  bool ExecutionEnds() const;
  // Returns true iff the current execution, or the one about to begin, is the
  // last of its epoch.
  bool ExecutionEndsEpoch() const;

  // Returns true iff the options require a save at this boundary.
  bool SaveDue(LoopBoundary boundary) const;
  // Returns true iff the options require a stop at the end of the execution
  // that contains this boundary.
  bool StopDue(LoopBoundary boundary) const;

  // The next two functions are about the execution that contains the last step
  // made. They return false unless the position is at the end of a step.

  // Returns true iff a save was due at one of the execution's steps so far.
  bool SaveWasDueInExecution() const;
  // Returns true iff a stop was due at one of the execution's steps so far.
  bool StopWasDueInExecution() const;

 private:
  // Returns the last step before the execution. REQUIRES: the position is at
  // the end of a step.
  uint64_t StepBeforeExecution() const;

  const TrainOptions& options_;
  const Position& position_;
  const SampleSchedule& samples_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_BOUNDARY_SCHEDULE_H_
