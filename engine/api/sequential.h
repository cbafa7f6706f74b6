// A model that one call trains, on one worker or on many.
//
//   Sequential model({.height = 28, .width = 28},
//                    {layers::Flatten(), layers::Dense(128), layers::Relu(),
//                     layers::Dense(10)});
//   model.Compile({.optimizer = {.kind = OptimizerKind::kAdam}});
//   BackupAndRestore backup({.backup_dir = "backup"});
//   auto fit = model.Fit(world, data, {.epochs = 10, .callbacks = {&backup}});
//
// The final weights are a function of the model, the data and the options that
// belong to the job (job.h), however often the program was interrupted.
#ifndef GAUNTLET_ENGINE_API_SEQUENTIAL_H_
#define GAUNTLET_ENGINE_API_SEQUENTIAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/callback.h"
#include "engine/api/weights/weights_file.h"
#include "engine/data/dataset.h"
#include "engine/job/job.h"
#include "engine/job/layers.h"
#include "engine/sample_shape.h"
#include "engine/status.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/options.h"
#include "engine/train/worker/worker.h"
#include "engine/train/worker_processes.h"
#include "engine/world/world.h"

namespace gauntlet {

struct CompileOptions {
  OptimizerSpec optimizer;
  LossKind loss = LossKind::kSoftmaxCrossEntropy;
  // Seed of the initial weights, the order of the samples and dropout.
  uint64_t seed = 1;
};

struct FitOptions {
  // Total number of epochs, including those before a restart: after an
  // interruption in epoch 5 of 10, six epochs are left.
  uint64_t epochs = 1;
  uint64_t initial_epoch = 0;         // number of the first epoch, if there is
                                      // no backup
  std::optional<uint64_t> max_steps;  // number of the last step
  int batch = 32;                     // samples per replica and step
  int replicas = 0;                   // 0: one per worker
  int accumulate = 1;                 // steps per update
  Remainder remainder = Remainder::kDrop;
  // Called in this order. A callback may appear only once, and must outlive the
  // call of Fit.
  std::vector<Callback*> callbacks;
  // Place of this worker in the cluster; by default it is the only one.
  WorkerSpec place;
  ClusterOptions cluster;
  PreemptionOptions preemption;
  KernelOptions kernels;
};

enum class FitEnd : uint8_t {
  kFinished,  // trained all epochs, or a callback ended the run
  // A preemption notice stopped training: the program must exit with
  // WorkerExit::kStopped, and resumes when it is restarted.
  kPreempted,
  // Loss or state is not finite, and TerminateOnNaN is one of the callbacks:
  // the program must exit with WorkerExit::kNotFinite. The weights are those at
  // the end of training; no checkpoint contains them.
  kNotFinite,
};

struct FitResult {
  FitEnd end = FitEnd::kFinished;
  // Name of the callback that requested the end, in this run or an earlier one;
  // "": none did.
  std::string stopped_by;
  // One entry for each complete epoch, including those before a restart.
  History history;
  uint64_t steps = 0;  // so far, including those before a restart
  std::optional<uint64_t> resumed_from;  // step of the checkpoint
  Digest digest;                         // digest of the final state
  // First step after which loss or state was not finite.
  std::optional<uint64_t> not_finite_since = {};
};

class Sequential {
 public:
  Sequential(const SampleShape& input, std::vector<LayerSpec> layers);

  // Builds the model and initializes the weights from the seed.
  // kInvalidArgument names a layer or option that cannot be used for training.
  Status Compile(const CompileOptions& options);

  // Trains from the present weights, or resumes an interrupted call
  // (BackupAndRestore). After an error, except kResourceExhausted, the weights
  // are those before the call. REQUIRES: Compile was Ok. Errors:
  // - kInvalidArgument: invalid input.
  // - kCancelled: a callback interrupted the training.
  // - kUnavailable: a worker is lost; start again.
  // - kFailedPrecondition: there are checkpoints but none is valid; or another
  //   run owns backup_dir, and this call has not affected that run.
  // - kOtherJob: the checkpoints belong to another job or to other callbacks;
  //   the message has the differences.
  // - kResourceExhausted: the last checkpoint could not be saved; the weights
  //   are those at the end of training.
  Result<FitResult> Fit(World& world, const DataSpec& data,
                        const FitOptions& options);

  // Returns loss and accuracy over all samples. REQUIRES: Compile was Ok.
  // kInvalidArgument: there are no samples, or they do not have the input's
  // shape.
  Result<EpochMetrics> Evaluate(const Dataset& data) const;

  // Parameters and their values, in the order of the layers. REQUIRES: Compile
  // was Ok.
  std::span<const ParameterInfo> parameters() const {
    return built_.model->parameters();
  }
  std::span<const float> weights() const {
    return std::span(weights_).first(built_.model->parameter_count());
  }

  Status SaveWeights(World& world, const std::string& path) const;
  // Sets the weights that training starts from. They are part of the job:
  // checkpoints of a run with other start weights are refused.
  Status LoadWeights(World& world, const std::string& path,
                     PartialWeights partial = PartialWeights::kRefuse);

 private:
  JobSpec JobFor(const DataSpec& data, const FitOptions& options) const;
  Status CheckShape(const Dataset& data) const;
  void KeepWeights(const TrainState& state);

  SampleShape input_;
  ModelSpec model_;
  CompileOptions compile_;
  JobModel built_;                     // set by Compile
  std::vector<ParameterInfo> values_;  // TrainedValues of the model
  std::vector<float> weights_;         // values of values_
  bool begins_with_seed_ = true;       // weights_ are unchanged since Compile
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_SEQUENTIAL_H_
