// Inputs that all workers of a run share.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_TRAIN_INPUTS_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_TRAIN_INPUTS_H_

#include <span>
#include <string>

#include "engine/data/dataset.h"
#include "engine/gpu/device_kernels.h"
#include "engine/train/loop/loop_hooks.h"
#include "engine/train/loop/train_memo.h"
#include "engine/train/options.h"

namespace gauntlet {

// The objects that it refers to outlive the workers.
struct TrainInputs {
  const TrainOptions& options;
  const DataSplit& data;
  // JobToJson of the options' job and this data's content.
  const std::string& job_json;
  TrainMemo* memo = nullptr;   // null: every pass is computed
  LoopHooks* hooks = nullptr;  // null: none
  // Initial values of the model's TrainedValues if the job's start has weights:
  // their digest is in the job.
  std::span<const float> weights = {};
  // Opened by the process if the options name a device.
  gpu::DevicePlace device = {};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_TRAIN_INPUTS_H_
