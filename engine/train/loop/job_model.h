// Model and optimizer of a job, on their kernels.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_JOB_MODEL_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_JOB_MODEL_H_

#include <cstdint>
#include <memory>

#include "engine/gpu/device_kernels.h"
#include "engine/job/job.h"
#include "engine/math/kernels.h"
#include "engine/model/model.h"
#include "engine/model/optimizers/optimizer.h"
#include "engine/sample_shape.h"
#include "engine/status.h"

namespace gauntlet {

struct JobModel {
  std::unique_ptr<Kernels> kernels;       // outlive model and optimizer
  std::unique_ptr<Kernels> host_kernels;  // set if `kernels` use a device
  std::unique_ptr<Model> model;
  std::unique_ptr<Optimizer> optimizer;

  // Returns the kernels for arrays in host memory.
  const Kernels& kernels_for_host() const {
    return host_kernels ? *host_kernels : *kernels;
  }
};

// Builds the model for samples of that shape and labels below `classes`.
// Returns kInvalidArgument if the layers do not fit the samples, the replicas'
// own states are too large to exchange in each step, or the options name a
// device and `place` has none; kUnavailable if the device is gone, cannot be
// opened, or fails immediately.
Result<JobModel> BuildJobModel(const JobSpec& job, const SampleShape& sample,
                               uint32_t classes, const KernelOptions& options,
                               const gpu::DevicePlace& place = {});

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_JOB_MODEL_H_
