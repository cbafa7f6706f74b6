// A second set of a state's large arrays, for saves that take no copy. While a
// save reads the arrays of the state in place, an update writes the next values
// to the second set, and the two sets swap roles.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_SPARE_ARRAYS_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_SPARE_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/math/kernels.h"
#include "engine/tensor.h"
#include "engine/train/state/train_state.h"

namespace gauntlet {

class SpareArrays {
 public:
  // Allocates its memory immediately. REQUIRES: while this exists, the state
  // does not move and its arrays keep their sizes.
  explicit SpareArrays(TrainState& state);
  ~SpareArrays();
  SpareArrays(const SpareArrays&) = delete;
  SpareArrays& operator=(const SpareArrays&) = delete;

  // A save reads the arrays from now on: until Thaw, one of the two sets keeps
  // their current values. REQUIRES: no other save reads them.
  void Freeze();
  void Thaw() { frozen_.assign(frozen_.size(), false); }

  // Returns true iff the tensor is part of one of the state's large arrays.
  bool Has(const TensorView& tensor) const;
  uint64_t bytes() const;

 private:
  friend class TrainState;
  // See TrainState::NextOf.
  UpdatedArray NextOf(size_t index);

  TrainState& state_;
  std::vector<std::vector<float>> arrays_;
  std::vector<bool> frozen_;  // by index of the state's array
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_SPARE_ARRAYS_H_
