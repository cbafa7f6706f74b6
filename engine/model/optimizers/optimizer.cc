#include "engine/model/optimizers/optimizer.h"

#include <algorithm>
#include <array>

#include "engine/check.h"
#include "engine/model/optimizers/adam.h"
#include "engine/model/optimizers/sgd.h"

namespace gauntlet {

std::unique_ptr<Optimizer> Optimizer::Build(const OptimizerSpec& spec,
                                            const Kernels& kernels) {
  switch (spec.kind) {
    case OptimizerKind::kSgd:
      return std::make_unique<Sgd>(spec, kernels);
    case OptimizerKind::kAdam:
      return std::make_unique<Adam>(spec, kernels);
  }
  CHECK(false, "not a kind of optimizer");
  return nullptr;
}

void Optimizer::Apply(uint64_t update, std::span<const float> gradients,
                      std::span<float> parameters,
                      OptimizerState& state) const {
  constexpr size_t kMostSlots = 4;
  CHECK(state.slots.size() <= kMostSlots, "too many slots");
  std::array<UpdatedArray, kMostSlots> slots;
  std::ranges::transform(
      state.slots, slots.begin(),
      [](std::vector<float>& slot) { return UpdatedArray(slot); });
  Apply(update, gradients, UpdatedArray(parameters),
        {.slots = std::span(slots).first(state.slots.size()),
         .scalars = state.scalars});
}

}  // namespace gauntlet
