#include "engine/api/sequential.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "engine/api/callback_hooks.h"
#include "engine/model/model.h"
#include "engine/numerics.h"
#include "engine/train/loop/trainer.h"
#include "engine/train/output_overlap.h"
#include "engine/train/save/store_hold.h"
#include "engine/train/worker/worker.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the number of outputs of the last dense layer; 0 if there is none.
uint32_t ClassesOf(const ModelSpec& model) {
  for (auto layer = model.layers.rbegin(); layer != model.layers.rend();
       ++layer) {
    if (layer->kind == LayerKind::kDense) {
      return static_cast<uint32_t>(std::max(layer->units, 0));
    }
  }
  return 0;
}

Status CheckNames(const std::vector<Callback*>& callbacks) {
  std::set<std::string> names;
  for (const Callback* callback : callbacks) {
    const std::string name = callback->name();
    const bool plain =
        !name.empty() &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
            name.npos;
    if (!plain) {
      return InvalidArgument(fmt::format(
          "callbacks: expected a name of a-z, 0-9 and _, found '{}'", name));
    }
    if (callback->StateSize({.parameters = 1}) > 0 &&
        !names.insert(name).second) {
      return InvalidArgument(fmt::format(
          "callbacks: expected each name once, found {} twice", name));
    }
  }
  return OkStatus();
}

// Returns how Fit ended; nullopt if the exit is an error.
std::optional<FitEnd> EndOf(WorkerExit exit) {
  switch (exit) {
    case WorkerExit::kDone:
      return FitEnd::kFinished;
    case WorkerExit::kStopped:
      return FitEnd::kPreempted;
    case WorkerExit::kNotFinite:
      return FitEnd::kNotFinite;
    default:
      return std::nullopt;
  }
}

Status CheckOutputs(Storage& storage, const TrainOptions& options,
                    const std::vector<Callback*>& callbacks) {
  OutputPlaces places = {
      .store = {.role = "backup_dir", .path = options.checkpoint.directory}};
  for (const Callback* callback : callbacks) {
    for (std::string& path : callback->Outputs()) {
      places.others.push_back({.role = "output of callback " + callback->name(),
                               .path = std::move(path)});
    }
  }
  return CheckOverlap(storage, places);
}

// Returns the error that Fit ends with. `callback` is the error that a callback
// returned, or Ok.
Status ErrorOf(const WorkerEnd& end, const Status& callback) {
  if (!callback.ok()) return callback;
  switch (end.exit) {
    case WorkerExit::kBadInput:
      return InvalidArgument(end.reason);
    case WorkerExit::kOtherJob:
      return OtherJob(end.reason);
    case WorkerExit::kStartLater:
      return ResourceExhausted(end.reason);
    case WorkerExit::kLostWorker:
      return Unavailable(end.reason);
    default:
      return FailedPrecondition(end.reason);
  }
}

}  // namespace

Sequential::Sequential(const SampleShape& input, std::vector<LayerSpec> layers)
    : input_(input), model_{.layers = std::move(layers)} {}

Status Sequential::Compile(const CompileOptions& options) {
  compile_ = options;
  model_.loss = options.loss;
  const JobSpec job = {.model = model_, .optimizer = options.optimizer};
  RETURN_IF_ERROR(Validate(job));
  ASSIGN_OR_RETURN(built_, BuildJobModel(job, input_, ClassesOf(model_), {}));
  values_ = TrainedValues(*built_.model);
  weights_ = InitialValues(*built_.model, options.seed);
  begins_with_seed_ = true;
  return OkStatus();
}

JobSpec Sequential::JobFor(const DataSpec& data,
                           const FitOptions& options) const {
  const auto workers =
      static_cast<int>(std::max<size_t>(1, options.place.addresses.size()));
  JobSpec job = {.model = model_,
                 .data = data,
                 .optimizer = compile_.optimizer,
                 .replicas = options.replicas == 0 ? workers : options.replicas,
                 .batch = options.batch,
                 .accumulate = options.accumulate,
                 .seed = compile_.seed,
                 .remainder = options.remainder,
                 .start = {.weights = {}, .epoch = options.initial_epoch}};
  if (!begins_with_seed_) {
    job.start.weights = WeightsDigest(values_, weights_);
  }
  return job;
}

Result<FitResult> Sequential::Fit(World& world, const DataSpec& data,
                                  const FitOptions& options) {
  CHECK(!weights_.empty(), "Fit before Compile");
  RETURN_IF_ERROR(CheckNames(options.callbacks));
  TrainOptions train = {
      .job = JobFor(data, options),
      .horizon = {.epochs = options.epochs, .max_steps = options.max_steps},
      .cluster = options.cluster,
      .preemption = options.preemption,
      .kernels = options.kernels};
  const ModelExtent extent = {.parameters = built_.model->parameter_count()};
  for (const Callback* callback : options.callbacks) {
    RETURN_IF_ERROR(callback->Configure(train));
    if (callback->StateSize(extent) == 0) continue;
    train.job.callbacks[callback->name()] = callback->StateOptions();
  }
  RETURN_IF_ERROR(Validate(train.job));
  RETURN_IF_ERROR(CheckOutputs(world.storage, train, options.callbacks));
  ASSIGN_OR_RETURN(const std::shared_ptr<const DataSplit> split,
                   LoadData(world.storage, data));
  RETURN_IF_ERROR(CheckShape(split->train));
  const std::string job_json = JobToJson(train.job, split->content);
  CallbackHooks hooks(world, options.callbacks, *built_.model,
                      options.place.rank == 0);
  NoProgressReporter reporter;
  WorkerSpec place = options.place;
  ASSIGN_OR_RETURN(const StoreHold hold,
                   HoldStore(world, train.checkpoint.directory, place,
                             options.cluster.rendezvous_timeout));
  TrainedWorker trained = TrainAsWorker(world,
                                        {.options = train,
                                         .data = *split,
                                         .job_json = job_json,
                                         .hooks = &hooks,
                                         .weights = weights_},
                                        place, reporter);
  const WorkerExit exit = trained.end.exit;
  const std::optional<FitEnd> end = EndOf(exit);
  if (!end) {
    // Only the last save failed: the trained state is still in memory.
    if (exit == WorkerExit::kStartLater && trained.state) {
      KeepWeights(*trained.state);
    }
    return ErrorOf(trained.end, hooks.failure());
  }
  RemoveIfDeleted(world.storage, train.checkpoint.directory, hold);
  const TrainState& state = *trained.state;
  KeepWeights(state);
  return FitResult{.end = *end,
                   .stopped_by = hooks.StoppedBy(),
                   .history = state.history,
                   .steps = state.position.step,
                   .resumed_from = trained.resumed_from,
                   .digest = state.ComputeDigest(),
                   .not_finite_since = state.not_finite_since};
}

void Sequential::KeepWeights(const TrainState& state) {
  weights_ = ValuesOf(*built_.model, state);
  begins_with_seed_ = false;
}

Status Sequential::CheckShape(const Dataset& data) const {
  const SampleShape found = data.shape();
  if (found == input_) return OkStatus();
  return InvalidArgument(fmt::format(
      "data: expected samples of {}x{}x{} as the model's input, found {}x{}x{}",
      input_.height, input_.width, input_.channels, found.height, found.width,
      found.channels));
}

Result<EpochMetrics> Sequential::Evaluate(const Dataset& data) const {
  CHECK(!weights_.empty(), "Evaluate before Compile");
  RETURN_IF_ERROR(CheckShape(data));
  if (data.samples == 0) {
    return InvalidArgument("data: expected at least one sample, found none");
  }
  const ReplicaResult result = built_.model->Evaluate(
      weights(), {.features = data.features,
                  .labels = data.labels,
                  .loss_scale = numerics::LossScale(data.samples),
                  .state = std::span(weights_).subspan(weights().size())});
  return EpochMetrics{.loss = result.loss,
                      .accuracy = ShareOf(result.correct, data.samples)};
}

Status Sequential::SaveWeights(World& world, const std::string& path) const {
  return WriteWeights(world, path, values_, weights_);
}

Status Sequential::LoadWeights(World& world, const std::string& path,
                               PartialWeights partial) {
  ASSIGN_OR_RETURN(const size_t given,
                   ReadWeights(world, path, values_, weights_, partial));
  begins_with_seed_ = begins_with_seed_ && given == 0;
  return OkStatus();
}

}  // namespace gauntlet
