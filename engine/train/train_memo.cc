#include "engine/train/train_memo.h"

#include <bit>
#include <cstring>

#include "engine/check.h"

namespace gauntlet {
namespace {

enum class PassKind : uint64_t { kGradients, kEvaluation, kInitial };

Digest KeyOf(PassKind kind, std::span<const float> parameters,
             const ReplicaBatch& batch) {
  const Digest of_parameters = DigestOf(std::as_bytes(parameters));
  const Digest of_features = DigestOf(std::as_bytes(batch.features));
  const Digest of_labels = DigestOf(std::as_bytes(batch.labels));
  const uint64_t words[] = {static_cast<uint64_t>(kind),
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

void CopyFloats(std::span<const float> from, std::span<float> to) {
  CHECK(from.size() == to.size(), "a memo serves models of one spec");
  std::memcpy(to.data(), from.data(), to.size_bytes());
}

class RememberedModel final : public Model {
 public:
  RememberedModel(std::unique_ptr<Model> model, TrainMemo& memo)
      : model_(std::move(model)), memo_(memo) {}

  std::span<const ParameterInfo> parameters() const override {
    return model_->parameters();
  }
  size_t parameter_count() const override { return model_->parameter_count(); }
  std::span<const ParameterInfo> replica_state() const override {
    return model_->replica_state();
  }
  void Initialize(uint64_t rng_key,
                  std::span<float> parameters) const override {
    const Digest key = KeyOf(PassKind::kInitial, {}, {.rng_key = rng_key});
    if (const TrainMemo::Pass* pass = memo_.Find(key)) {
      CopyFloats(pass->floats, parameters);
      return;
    }
    model_->Initialize(rng_key, parameters);
    memo_.Put(key,
              {.result = {}, .floats = {parameters.begin(), parameters.end()}});
  }

  ReplicaResult Gradients(std::span<const float> parameters,
                          const ReplicaBatch& batch,
                          std::span<float> gradients) override {
    // Who looks into a pass wants it made; and a key does not cover a replica's
    // own state.
    if (batch.probe != nullptr || !batch.state.empty()) {
      return model_->Gradients(parameters, batch, gradients);
    }
    const Digest key = KeyOf(PassKind::kGradients, parameters, batch);
    if (const TrainMemo::Pass* pass = memo_.Find(key)) {
      CopyFloats(pass->floats, gradients);
      return pass->result;
    }
    const ReplicaResult result =
        model_->Gradients(parameters, batch, gradients);
    memo_.Put(key, {.result = result,
                    .floats = {gradients.begin(), gradients.end()}});
    return result;
  }

  ReplicaResult Evaluate(std::span<const float> parameters,
                         const ReplicaBatch& batch) override {
    if (!batch.state.empty()) return model_->Evaluate(parameters, batch);
    const Digest key = KeyOf(PassKind::kEvaluation, parameters, batch);
    if (const TrainMemo::Pass* pass = memo_.Find(key)) return pass->result;
    const ReplicaResult result = model_->Evaluate(parameters, batch);
    memo_.Put(key, {.result = result, .floats = {}});
    return result;
  }

 private:
  std::unique_ptr<Model> model_;
  TrainMemo& memo_;
};

}  // namespace

const TrainMemo::Pass* TrainMemo::Find(const Digest& key) const {
  const auto pass = passes_.find({key.high, key.low});
  if (pass == passes_.end()) return nullptr;
  ++found_;
  return &pass->second;
}

void TrainMemo::Put(const Digest& key, Pass pass) {
  const size_t size = sizeof(Pass) + pass.floats.size() * sizeof(float);
  if (bytes_ + size > capacity_bytes_) {
    passes_.clear();
    bytes_ = 0;
  }
  bytes_ += size;
  ++computed_;
  passes_[{key.high, key.low}] = std::move(pass);
}

SampleOrder TrainMemo::OrderOf(uint64_t rng_key, uint64_t epoch,
                               uint32_t rows) {
  const auto [place, fresh] = orders_.try_emplace({rng_key, epoch, rows});
  std::vector<uint32_t>& order = place->second;
  if (fresh) {
    const SampleOrder computed(rng_key, epoch, rows);
    order.reserve(rows);
    for (uint32_t i = 0; i < rows; ++i) order.push_back(computed.RowAt(i));
  }
  return SampleOrder(order);
}

std::unique_ptr<Model> WithMemo(std::unique_ptr<Model> model, TrainMemo& memo) {
  return std::make_unique<RememberedModel>(std::move(model), memo);
}

}  // namespace gauntlet
