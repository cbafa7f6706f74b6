// Inputs that all workers of a run share.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_TRAIN_INPUTS_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_TRAIN_INPUTS_H_

#include <optional>
#include <span>
#include <string>

#include "engine/data/dataset.h"
#include "engine/gpu/device_kernels.h"
#include "engine/train/loop/loop_hooks.h"
#include "engine/train/loop/train_memo.h"
#include "engine/train/options.h"
#include "engine/world/clock.h"

namespace gauntlet {

// The referenced objects outlive the workers. A worker uses them in all of its
// generations: a worker that rejoins does not load them again.
struct TrainInputs {
  const TrainOptions& options;
  const DataSplit& data;
  // JobToJson of the options' job, with the digest of this data.
  const std::string& job_json;
  TrainMemo* memo = nullptr;   // null: every pass is computed
  LoopHooks* hooks = nullptr;  // null: none
  // Initial TrainedValues of the model if the job starts from given weights.
  // The job contains their digest.
  std::span<const float> weights = {};
  // Place of the worker's device, set by the process if the options name a
  // device. The worker itself opens the device.
  gpu::DevicePlace device = {};
  // Time at which the process began to load these inputs: the times of
  // kStartTimes count from it. nullopt: they count from the construction of the
  // worker.
  std::optional<Time> loaded_since = {};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_TRAIN_INPUTS_H_
