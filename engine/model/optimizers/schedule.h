// The learning rate of an update: a pure function of the job.
#ifndef GAUNTLET_ENGINE_MODEL_OPTIMIZERS_SCHEDULE_H_
#define GAUNTLET_ENGINE_MODEL_OPTIMIZERS_SCHEDULE_H_

#include <cstdint>

#include "engine/job/job.h"

namespace gauntlet {

// Returns the learning rate of update `update`, counted from 0. See
// ScheduleSpec.
float LearningRate(const OptimizerSpec& spec, uint64_t update);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_OPTIMIZERS_SCHEDULE_H_
