#include "tests/engine/model/training_loop.h"

#include <algorithm>

#include "engine/digest.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

std::string BytesOf(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<const DataSplit> Load(const DataSpec& spec) {
  MemoryStorage none = ReadOnlyFiles();
  return LoadData(none, spec).value();
}

}  // namespace

std::unique_ptr<Kernels> MakeKernels(Isa isa, int threads) {
  return Kernels::Create({.isa = isa, .threads = threads}).value();
}

std::vector<Isa> IsasHere() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (Kernels::Create({.isa = isa}).ok()) isas.push_back(isa);
  }
  return isas;
}

Samples Gather(const Dataset& data, const SampleOrder& order,
               const SampleRange& range) {
  const size_t size = data.features_per_sample();
  Samples samples;
  for (uint64_t i = 0; i < range.count; ++i) {
    const uint32_t sample = order.SampleAt(range.first + i);
    const auto features = std::span(data.features).subspan(sample * size, size);
    samples.features.insert(samples.features.end(), features.begin(),
                            features.end());
    samples.labels.push_back(data.labels[sample]);
  }
  return samples;
}

ReplicaBatch WholeSet(const Dataset& data) {
  return {.features = data.features,
          .labels = data.labels,
          .loss_scale = 1.0f / static_cast<float>(data.samples)};
}

TrainingLoop::TrainingLoop(const JobSpec& job, const Kernels& kernels)
    : job_(job),
      kernels_(kernels),
      data_(Load(job.data)),
      model_(Model::Build(job.model, data_->train.shape(), data_->train.classes,
                          kernels)
                 .value()),
      optimizer_(Optimizer::Build(job.optimizer, kernels)),
      parameters_(model_->parameter_count()),
      state_(optimizer_->InitialState(parameters_.size())) {
  model_->Initialize(job.seed, parameters_);
}

uint64_t TrainingLoop::steps_per_epoch() const {
  return data_->train.samples /
         static_cast<uint64_t>(job_.replicas * job_.batch);
}

void TrainingLoop::Step() {
  const auto replicas = static_cast<uint64_t>(job_.replicas);
  const auto batch = static_cast<uint64_t>(job_.batch);
  const uint64_t step_samples = replicas * batch;
  const SampleOrder order(job_.seed, step_ / steps_per_epoch(),
                          data_->train.samples);
  const uint64_t position = step_ % steps_per_epoch() * step_samples;
  std::vector<float> sum(parameters_.size());
  std::vector<float> gradients(parameters_.size());
  for (uint64_t replica = 0; replica < replicas; ++replica) {
    const SampleRange range =
        ReplicaSamples(position, step_samples, batch, replica);
    const Samples samples = Gather(data_->train, order, range);
    const ReplicaResult result = model_->Gradients(
        parameters_,
        {.features = samples.features,
         .labels = samples.labels,
         .loss_scale = 1.0f / static_cast<float>(step_samples),
         .rng_key = job_.seed,
         .step = step_,
         .first_global_row = range.first - position},
        replica == 0 ? sum : gradients);
    if (replica > 0) kernels_.Accumulate(gradients, sum);
    loss_ = replica == 0 ? result.loss : loss_ + result.loss;
  }
  optimizer_->Apply(step_, sum, parameters_, state_);
  ++step_;
}

void TrainingLoop::Epoch() {
  do {
    Step();
  } while (step_ % steps_per_epoch() != 0);
}

double TrainingLoop::Accuracy(const Dataset& data) {
  const ReplicaResult result = model_->Evaluate(parameters_, WholeSet(data));
  return static_cast<double>(result.correct) / data.samples;
}

std::string TrainingLoop::Digest() const {
  std::string bytes = BytesOf(parameters_);
  for (const std::vector<float>& slot : state_.slots) bytes += BytesOf(slot);
  bytes += BytesOf(state_.scalars) + BytesOf({loss_});
  return DigestOf(bytes).ToString();
}

}  // namespace gauntlet
