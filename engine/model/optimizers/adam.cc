#include "engine/model/optimizers/adam.h"

#include "engine/check.h"
#include "engine/large_array.h"
#include "engine/model/optimizers/schedule.h"
#include "engine/numerics.h"

namespace gauntlet {

Adam::Adam(const OptimizerSpec& spec, const Kernels& kernels)
    : spec_(spec), kernels_(kernels) {}

std::vector<std::string> Adam::slot_names() const {
  return {"adam/m", "adam/v"};
}

std::vector<std::string> Adam::scalar_names() const {
  return {"adam/beta1_power", "adam/beta2_power"};
}

OptimizerState Adam::InitialState(size_t parameter_count) const {
  OptimizerState state = {.slots = {}, .scalars = {1.0f, 1.0f}};
  for (int slot = 0; slot < 2; ++slot) {
    state.slots.push_back(MakeLargeArray<float>(parameter_count));
  }
  return state;
}

void Adam::Apply(uint64_t update, std::span<const float> gradients,
                 UpdatedArray parameters, const OptimizerArrays& state) const {
  CHECK(gradients.size() == parameters.size(), "sizes of the update differ");
  CHECK(state.scalars.size() == 2 && state.slots.size() == 2 &&
            state.slots[0].size() == parameters.size() &&
            state.slots[1].size() == parameters.size(),
        "the state is not of this optimizer");
  // Powers as running products: pow() would not give equal bits everywhere.
  float& beta1_power = state.scalars[0];
  float& beta2_power = state.scalars[1];
  beta1_power = beta1_power * spec_.beta1;
  beta2_power = beta2_power * spec_.beta2;
  const float step_size = numerics::AdamStepSize(LearningRate(spec_, update),
                                                 beta1_power, beta2_power);
  kernels_.Adam({.step_size = step_size,
                 .beta1 = spec_.beta1,
                 .beta2 = spec_.beta2,
                 .epsilon = spec_.epsilon},
                gradients, parameters, state.slots[0], state.slots[1]);
}

}  // namespace gauntlet
