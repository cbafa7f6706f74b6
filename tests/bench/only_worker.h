// The only worker of a run, driven step by step.
#ifndef GAUNTLET_TESTS_BENCH_ONLY_WORKER_H_
#define GAUNTLET_TESTS_BENCH_ONLY_WORKER_H_

#include <chrono>
#include <cstdint>

#include "engine/cluster/ring/ring.h"
#include "engine/data/dataset.h"
#include "engine/data/sample_schedule.h"
#include "engine/job/job.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/loop/trainer.h"
#include "engine/train/state/resident_state.h"

namespace gauntlet {

class OnlyWorker {
 public:
  // Parts of the run. All referenced objects outlive the worker.
  struct Parts {
    const JobSpec& job;
    const DataSplit& data;
    const SampleSchedule& schedule;
    JobModel& built;
  };
  OnlyWorker(World& world, const Parts& parts, uint64_t generation = 1)
      : state_(*parts.built.model, *parts.built.optimizer, parts.job),
        resident_(state_, *parts.built.kernels, world.faults),
        ring_(world, parts.built.kernels_for_host(), {.generation = generation},
              nullptr, nullptr),
        trainer_(world, ring_,
                 {.job = parts.job,
                  .data = parts.data,
                  .schedule = parts.schedule,
                  .optimizer = *parts.built.optimizer,
                  .model = *parts.built.model,
                  .kernels = *parts.built.kernels}) {}

  // Trains one step. After the end of an epoch, starts again with the epoch's
  // first samples.
  Result<StepOutcome> Step() {
    if (state_.position.phase_of() != Phase::kInEpoch) {
      state_.position.phase = static_cast<uint64_t>(Phase::kInEpoch);
      state_.position.sample = 0;
    }
    return trainer_.Step(resident_, nullptr, std::chrono::minutes(10));
  }

  TrainState& state() { return state_; }
  ResidentState& resident() { return resident_; }
  Ring& ring() { return ring_; }

 private:
  TrainState state_;
  ResidentState resident_;
  Ring ring_;
  Trainer trainer_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_BENCH_ONLY_WORKER_H_
