// A model that is trained with one call, on one worker or on many.
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
#include "engine/row_shape.h"
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
  // Initial weights, order of the samples and dropout come from it.
  uint64_t seed = 1;
};

struct FitOptions {
  // Absolute: what was interrupted in the fifth of ten epochs has six to go.
  uint64_t epochs = 1;
  uint64_t initial_epoch = 0;         // if there is no backup
  std::optional<uint64_t> max_steps;  // absolute
  int batch = 32;                     // rows a replica takes in a step
  int replicas = 0;                   // 0: one for each worker
  int accumulate = 1;                 // steps that make one update
  Remainder remainder = Remainder::kDrop;
  // In what order they are called; none of them twice. They outlive the call.
  std::vector<Callback*> callbacks;
  // This worker among the others; as it stands, there is only one.
  WorkerSpec place;
  ClusterOptions cluster;
  PreemptionOptions preemption;
  KernelOptions kernels;
};

enum class FitEnd : uint8_t {
  kFinished,  // all epochs, or a callback wanted no more
  // A termination notice: the program is to exit with
  // WorkerExit::kStopped, and goes on when it is started again.
  kPreempted,
  // Loss or state is not finite, and TerminateOnNaN was among the callbacks:
  // the program is to exit with WorkerExit::kNotFinite. The weights are those
  // that training ended with; no checkpoint is of them.
  kNotFinite,
};

struct FitResult {
  FitEnd end = FitEnd::kFinished;
  // Name of the callback that wanted no more, in this run or an earlier one;
  // "": none did.
  std::string stopped_by;
  // One entry for each complete epoch, those before a restart included.
  History history;
  uint64_t steps = 0;                    // so far, likewise
  std::optional<uint64_t> resumed_from;  // step
  Digest digest;                         // of the state training ended with
  // The first step after which loss or state was not finite.
  std::optional<uint64_t> not_finite_since = {};
};

class Sequential {
 public:
  Sequential(const RowShape& input, std::vector<LayerSpec> layers);

  // Sets the weights to the seed's. kInvalidArgument names what no training can
  // use, layers included.
  Status Compile(const CompileOptions& options);

  // Trains from the present weights, or from where an interrupted call stood
  // (BackupAndRestore). After an error the weights are those before the call.
  // kInvalidArgument: bad input; kCancelled: a callback interrupted it;
  // kUnavailable: a worker is lost, start again; kFailedPrecondition: there are
  // checkpoints and none of them is good, or another run owns backup_dir (this
  // worker is refused, the other run unharmed); kOtherJob: they belong to
  // another job, or to other callbacks; says what differs. kResourceExhausted:
  // the last checkpoint could not be saved; the weights are those that training
  // came to. REQUIRES: Compile was Ok.
  Result<FitResult> Fit(World& world, const DataSpec& data,
                        const FitOptions& options);

  // Loss and accuracy over all rows. REQUIRES: Compile was Ok; the rows have
  // the input's shape.
  Result<EpochMetrics> Evaluate(const Dataset& rows) const;

  // In the order of the layers. REQUIRES: Compile was Ok.
  std::span<const ParameterInfo> parameters() const {
    return built_.model->parameters();
  }
  std::span<const float> weights() const {
    return std::span(weights_).first(built_.model->parameter_count());
  }

  Status SaveWeights(World& world, const std::string& path) const;
  // Sets the weights that training starts with; a different start is a
  // different job.
  Status LoadWeights(World& world, const std::string& path,
                     PartialWeights partial = PartialWeights::kRefuse);

 private:
  JobSpec JobFor(const DataSpec& data, const FitOptions& options) const;
  Status CheckShape(const Dataset& rows) const;
  FitResult TakeOver(TrainedWorker& trained);

  RowShape input_;
  ModelSpec model_;
  CompileOptions compile_;
  JobModel built_;                     // by Compile
  std::vector<ParameterInfo> values_;  // TrainedValues of the model
  std::vector<float> weights_;         // its values
  bool begins_with_seed_ = true;       // nobody has touched them
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_SEQUENTIAL_H_
