#include "engine/model/optimizers/sgd.h"

#include "engine/check.h"
#include "engine/large_array.h"
#include "engine/model/optimizers/schedule.h"

namespace gauntlet {

Sgd::Sgd(const OptimizerSpec& spec, const Kernels& kernels)
    : spec_(spec), kernels_(kernels) {}

std::vector<std::string> Sgd::slot_names() const {
  if (spec_.momentum == 0.0f) return {};
  return {"sgd/momentum"};
}

OptimizerState Sgd::InitialState(size_t parameter_count) const {
  OptimizerState state;
  for (size_t slot = 0; slot < slot_names().size(); ++slot) {
    state.slots.push_back(MakeLargeArray<float>(parameter_count));
  }
  return state;
}

void Sgd::Apply(uint64_t update, std::span<const float> gradients,
                UpdatedArray parameters, const OptimizerArrays& state) const {
  const float rate = LearningRate(spec_, update);
  CHECK(gradients.size() == parameters.size(), "sizes of the update differ");
  if (spec_.momentum == 0.0f) {
    kernels_.Sgd(rate, gradients, parameters);
    return;
  }
  CHECK(state.slots.size() == 1 && state.slots[0].size() == parameters.size(),
        "the state is not of this optimizer");
  kernels_.SgdMomentum(rate, spec_.momentum, gradients, parameters,
                       state.slots[0]);
}

}  // namespace gauntlet
