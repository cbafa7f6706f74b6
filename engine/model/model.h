// A feed-forward model: its parameters in one flat array, its gradients in
// another, and the pass over a replica's samples that computes them.
#ifndef GAUNTLET_ENGINE_MODEL_MODEL_H_
#define GAUNTLET_ENGINE_MODEL_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/data/gathered_samples.h"
#include "engine/job/job.h"
#include "engine/math/kernels.h"
#include "engine/model/step_probe.h"
#include "engine/sample_shape.h"
#include "engine/status.h"
#include "engine/tensor.h"

namespace gauntlet {

struct ParameterInfo {
  std::string name;  // "dense0/kernel", "dense0/bias"
  std::vector<uint64_t> shape;
  size_t offset = 0;  // position in the flat array, in floats
  size_t size = 0;    // number of floats
};

// Returns views of `values`, as the infos name and place them.
std::vector<TensorView> ViewsOf(std::span<const ParameterInfo> infos,
                                std::span<const float> values);

// Result of a pass, in host memory that its holders share: the gradients,
// followed by the loss.
using KeptGradients = std::shared_ptr<const std::vector<float>>;

// The samples of one replica in one step, in the host's memory. `features` is
// samples x features_per_sample.
struct ReplicaBatch {
  std::span<const float> features;
  std::span<const uint8_t> labels;
  // If set, used instead of features and labels: training samples, which are
  // gathered only if the model computes the pass.
  GatheredSamples* samples = nullptr;
  // 1 / (samples of all replicas in this step): factor on the losses before the
  // backward pass.
  float loss_scale = 1.0f;
  // Keys the dropout masks, together with the step, the layer and the row of
  // the sample in the global batch.
  uint64_t rng_key = 0;
  uint64_t step = 0;
  uint64_t first_global_row = 0;  // first sample's row in the global batch
  // The replica's own state, which it keeps from step to step. `state` is the
  // state before the step, `next_state` has room for the state after it. Each
  // has replica_state_size() floats. An evaluation gets one state for all
  // replicas.
  std::span<const float> state;
  std::span<float> next_state;
  // If set, a model that has stored the result of an equal pass may return it
  // here instead of filling `gradients`. It then does not call `final_from`.
  KeptGradients* kept = nullptr;
  // If set, the backward pass calls it with descending offsets. The gradients
  // from an offset on are final, and the caller may already change them. The
  // gradients below the last offset are final once the pass is over. REQUIRES:
  // host memory.
  std::function<void(size_t)> final_from;
  StepProbe* probe = nullptr;  // receives each operation's output
  int replica = 0;             // the replica's number, for the probe
};

struct ReplicaResult {
  // Sum over samples of the loss times loss_scale, in the canonical order.
  float loss = 0.0f;
  int64_t correct = 0;  // samples whose arg-max is the label
};

// Not safe for two tasks at once: it owns the activations' memory.
class Model {
 public:
  // Builds a model for samples of shape `sample` and labels below `classes`;
  // kInvalidArgument if the last layer does not have `classes` outputs.
  static Result<std::unique_ptr<Model>> Build(const ModelSpec& spec,
                                              const SampleShape& sample,
                                              uint32_t classes,
                                              const Kernels& kernels);
  virtual ~Model() = default;

  // In order of offset; together they cover [0, parameter_count()).
  virtual std::span<const ParameterInfo> parameters() const = 0;
  virtual size_t parameter_count() const = 0;

  // Returns the number of parameters of the first layer that has any. The
  // backward pass computes their gradients last: all other gradients are final
  // before the pass ends.
  virtual size_t first_layer_size() const = 0;

  // Describes the state that a replica keeps for itself, as parameters() does.
  // Usually empty.
  virtual std::span<const ParameterInfo> replica_state() const = 0;
  size_t replica_state_size() const;

  // Glorot-uniform kernels and zero biases, keyed by (rng_key, layer, element).
  virtual void Initialize(uint64_t rng_key,
                          std::span<float> parameters) const = 0;

  // Runs forward with dropout, loss and backward. Parameters and gradients are
  // in the kernels' memory, here and below. Overwrites `gradients`, with +0 if
  // there are no samples. If it fills batch.kept, it may leave `gradients`
  // unchanged.
  virtual ReplicaResult Gradients(std::span<const float> parameters,
                                  const ReplicaBatch& batch,
                                  std::span<float> gradients) = 0;

  // Runs forward without dropout; the sum of losses is scaled by loss_scale.
  virtual ReplicaResult Evaluate(std::span<const float> parameters,
                                 const ReplicaBatch& batch) = 0;
};

// Describes the values of a trained model in one flat array: its parameters,
// then its replica_state(), one for all replicas.
std::vector<ParameterInfo> TrainedValues(const Model& model);
// ValueCount returns the number of these values. InitialValues returns the
// initial ones; those of the replicas' state are +0.
size_t ValueCount(const Model& model);
std::vector<float> InitialValues(const Model& model, uint64_t rng_key);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_MODEL_H_
