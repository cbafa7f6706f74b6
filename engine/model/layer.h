// One layer of a feed-forward model: a function of rows and of its own slice of
// the model's parameters. It keeps nothing between calls.
#ifndef GAUNTLET_ENGINE_MODEL_LAYER_H_
#define GAUNTLET_ENGINE_MODEL_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/model.h"

namespace gauntlet {

enum class Pass : uint8_t { kTraining, kEvaluation };

struct PassContext {
  Pass pass = Pass::kTraining;
  uint64_t rng_key = 0;
  uint64_t step = 0;
  uint64_t first_global_row = 0;
  size_t rows = 0;
  StepProbe* probe = nullptr;
  int replica = 0;
  // The layer's own part of the replica's state (see ReplicaBatch).
  std::span<const float> state;
  std::span<float> next_state;
};

// x is rows x inputs, y and dy are rows x outputs, dx is rows x inputs.
// `gradients` is written, not added to. dx is empty if it is not needed.
struct BackwardArgs {
  std::span<const float> parameters;
  std::span<const float> x;
  std::span<const float> y;
  std::span<const float> dy;
  std::span<float> dx;
  std::span<float> gradients;
};

class Layer {
 public:
  virtual ~Layer() = default;
  // Floats per row.
  virtual size_t outputs() const = 0;
  // Returns the layer's parameters; most layers have none. Offsets count from
  // the first of them.
  virtual std::vector<ParameterInfo> parameters() const { return {}; }
  // Returns the state that each replica keeps for itself, initially +0. Offsets
  // count from the start of this state.
  virtual std::vector<ParameterInfo> replica_state() const { return {}; }
  virtual void Initialize(uint64_t /*rng_key*/,
                          std::span<float> /*parameters*/) const {}
  // Returns false if the layer passes its input on unchanged in a pass of this
  // kind; Forward is then not called.
  virtual bool Acts(Pass /*pass*/) const { return true; }
  virtual void Forward(const PassContext& context,
                       std::span<const float> parameters,
                       std::span<const float> x, std::span<float> y) const = 0;
  // The backward pass first calls ParameterGradients, which writes `gradients`,
  // and then, if dx is needed, InputGradient, which writes dx.
  virtual void ParameterGradients(const PassContext& /*context*/,
                                  const BackwardArgs& /*args*/) const {}
  virtual void InputGradient(const PassContext& context,
                             const BackwardArgs& args) const = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_LAYER_H_
