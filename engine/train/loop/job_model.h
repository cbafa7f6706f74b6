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
#include "engine/row_shape.h"
#include "engine/status.h"

namespace gauntlet {

struct JobModel {
  std::unique_ptr<Kernels> kernels;       // outlive the other two
  std::unique_ptr<Kernels> host_kernels;  // if those are a device's
  std::unique_ptr<Model> model;
  std::unique_ptr<Optimizer> optimizer;

  // For arrays in the program's own memory.
  const Kernels& for_host() const {
    return host_kernels ? *host_kernels : *kernels;
  }
};

// For rows of that shape and labels below `classes`. kInvalidArgument: the
// layers do not fit them, or replicas keep more for themselves than can go
// round in a step, or the options say a device and there is no place for it;
// kUnavailable: the device is gone, does not open, or fails at once.
Result<JobModel> BuildJobModel(const JobSpec& job, const RowShape& row,
                               uint32_t classes, const KernelOptions& options,
                               const gpu::DevicePlace& place = {});

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_JOB_MODEL_H_
