#include "engine/train/loop/train_memo.h"

#include <array>
#include <bit>
#include <cstring>

#include "engine/check.h"

namespace gauntlet {
namespace {

enum class PassKind : uint64_t { kGradients, kEvaluation, kInitial };

// Returns two digests that identify the batch's samples. If the batch contains
// the samples' numbers in the training data, returns the digest of the numbers
// and an empty digest. Otherwise returns the digest of the features and that of
// the labels.
std::array<Digest, 2> DigestsOfSamples(const ReplicaBatch& batch) {
  if (batch.samples == nullptr) {
    return {DigestOf(std::as_bytes(batch.features)),
            DigestOf(std::as_bytes(batch.labels))};
  }
  CHECK(!batch.samples->changed(),
        "samples whose contents were changed have no numbers");
  return {DigestOf(std::as_bytes(batch.samples->numbers())), Digest()};
}

Digest KeyOf(const Digest& identity, PassKind kind,
             std::span<const float> parameters, const ReplicaBatch& batch) {
  const Digest of_parameters = DigestOf(std::as_bytes(parameters));
  const auto [of_features, of_labels] = DigestsOfSamples(batch);
  const uint64_t words[] = {identity.high,
                            identity.low,
                            static_cast<uint64_t>(kind),
                            of_parameters.high,
                            of_parameters.low,
                            of_features.high,
                            of_features.low,
                            of_labels.high,
                            of_labels.low,
                            batch.rng_key,
                            batch.step,
                            batch.first_global_row,
                            std::bit_cast<uint32_t>(batch.loss_scale)};
  return DigestOf(std::as_bytes(std::span(words)));
}

KeptGradients Keep(std::span<const float> floats, float loss) {
  std::vector<float> kept;
  kept.reserve(floats.size() + 1);
  kept.assign(floats.begin(), floats.end());
  kept.push_back(loss);
  return std::make_shared<const std::vector<float>>(std::move(kept));
}

void CheckSize(const KeptGradients& kept, size_t size) {
  CHECK(kept->size() == size + 1,
        "models of one identity have the same number of gradients");
}

class MemoizedModel final : public Model {
 public:
  MemoizedModel(std::unique_ptr<Model> model, const Kernels& kernels,
                const Digest& identity, TrainMemo& memo)
      : model_(std::move(model)),
        kernels_(kernels),
        memory_(kernels.memory()),
        identity_(identity),
        memo_(memo) {}

  std::span<const ParameterInfo> parameters() const override {
    return model_->parameters();
  }
  size_t parameter_count() const override { return model_->parameter_count(); }
  size_t first_layer_size() const override {
    return model_->first_layer_size();
  }
  std::span<const ParameterInfo> replica_state() const override {
    return model_->replica_state();
  }
  void Initialize(uint64_t rng_key,
                  std::span<float> parameters) const override {
    const Digest key =
        KeyOf(identity_, PassKind::kInitial, {}, {.rng_key = rng_key});
    if (const TrainMemo::CachedPass* pass = memo_.Find(key)) {
      CheckSize(pass->floats, parameters.size());
      std::memcpy(parameters.data(), pass->floats->data(),
                  parameters.size_bytes());
      return;
    }
    model_->Initialize(rng_key, parameters);
    memo_.Put(key, {.result = {}, .floats = Keep(parameters, 0.0f)});
  }

  ReplicaResult Gradients(std::span<const float> parameters,
                          const ReplicaBatch& batch,
                          std::span<float> gradients) override {
    // Does not use the memo: a probe must observe the computation, and keys do
    // not cover a replica's own state.
    if (batch.probe != nullptr || !batch.state.empty()) {
      return model_->Gradients(parameters, batch, gradients);
    }
    const Digest key =
        KeyOf(identity_, PassKind::kGradients, Here(parameters), batch);
    if (const TrainMemo::CachedPass* pass = memo_.Find(key)) {
      CheckSize(pass->floats, gradients.size());
      if (batch.kept != nullptr) {
        *batch.kept = pass->floats;
      } else {
        memory_.Upload(gradients.data(), pass->floats->data(),
                       gradients.size_bytes());
      }
      return pass->result;
    }
    // Reports no gradients as final: the caller could overwrite them with the
    // sum before they are kept.
    ReplicaBatch without_reports = batch;
    without_reports.final_from = nullptr;
    const ReplicaResult result =
        model_->Gradients(parameters, without_reports, gradients);
    Put(key, {.result = result, .floats = Keep(Here(gradients), result.loss)});
    return result;
  }

  ReplicaResult Evaluate(std::span<const float> parameters,
                         const ReplicaBatch& batch) override {
    if (!batch.state.empty()) return model_->Evaluate(parameters, batch);
    const Digest key =
        KeyOf(identity_, PassKind::kEvaluation, Here(parameters), batch);
    if (const TrainMemo::CachedPass* pass = memo_.Find(key))
      return pass->result;
    const ReplicaResult result = model_->Evaluate(parameters, batch);
    Put(key, {.result = result, .floats = {}});
    return result;
  }

 private:
  // Returns a view, in host memory, of values in the kernels' memory.
  std::span<const float> Here(std::span<const float> there) {
    if (memory_.kind() == MemoryKind::kHost) return there;
    host_.resize(there.size());
    memory_.Download(host_.data(), there.data(), there.size_bytes());
    return host_;
  }
  // Results of a failed device are not kept.
  void Put(const Digest& key, TrainMemo::CachedPass pass) {
    if (kernels_.status().ok()) memo_.Put(key, std::move(pass));
  }

  std::unique_ptr<Model> model_;
  const Kernels& kernels_;
  Memory& memory_;
  std::vector<float> host_;
  const Digest identity_;
  TrainMemo& memo_;
};

}  // namespace

const TrainMemo::CachedPass* TrainMemo::Find(const Digest& key) const {
  const auto pass = passes_.find(key);
  if (pass == passes_.end()) return nullptr;
  ++found_;
  return &pass->second;
}

void TrainMemo::MakeRoom(size_t bytes) {
  if (bytes_ + bytes > capacity_bytes_) {
    passes_.clear();
    orders_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
}

void TrainMemo::Put(const Digest& key, CachedPass pass) {
  MakeRoom(sizeof(CachedPass) +
           (pass.floats ? pass.floats->size() * sizeof(float) : 0));
  ++computed_;
  passes_[key] = std::move(pass);
}

SampleOrder TrainMemo::OrderOf(uint64_t rng_key, uint64_t epoch,
                               uint32_t samples) {
  if (const auto known = orders_.find({rng_key, epoch, samples});
      known != orders_.end()) {
    return SampleOrder(known->second);
  }
  const SampleOrder computed(rng_key, epoch, samples);
  std::vector<uint32_t> order(samples);
  for (uint32_t i = 0; i < samples; ++i) order[i] = computed.SampleAt(i);
  MakeRoom(order.size() * sizeof(uint32_t));
  const auto kept =
      std::make_shared<const std::vector<uint32_t>>(std::move(order));
  orders_[{rng_key, epoch, samples}] = kept;
  return SampleOrder(kept);
}

std::unique_ptr<Model> WithMemo(std::unique_ptr<Model> model,
                                const Kernels& kernels, const Digest& identity,
                                TrainMemo& memo) {
  return std::make_unique<MemoizedModel>(std::move(model), kernels, identity,
                                         memo);
}

}  // namespace gauntlet
