// A small custom training loop.
#ifndef GAUNTLET_TESTS_ENGINE_API_CUSTOM_FIXTURE_H_
#define GAUNTLET_TESTS_ENGINE_API_CUSTOM_FIXTURE_H_

#include <algorithm>

#include "engine/api/custom_training.h"
#include "tests/engine/api/fit_fixture.h"

namespace gauntlet {

// Returns options of a job with five steps per epoch.
inline CustomTrainingOptions SmallTraining(const WorkerSpec& place) {
  const FitOptions small = SmallFit(1, {});
  JobSpec job = PresetJob("tiny").value();
  job.data = {.samples = 80, .validation_samples = 32, .side = 7};
  job.replicas = std::max(1, static_cast<int>(place.addresses.size()));
  job.batch = 16 / job.replicas;
  return {.job = job,
          .place = place,
          .cluster = small.cluster,
          .kernels = small.kernels};
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_API_CUSTOM_FIXTURE_H_
