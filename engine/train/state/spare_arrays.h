// A second set of a state's large arrays, for saves that take no copy: while a
// save reads the arrays of the state where they lie, an update writes the next
// values to this set, and the two sets change places.
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
  // Takes its memory at once. REQUIRES: the state stays where it is meanwhile,
  // and its arrays keep their sizes.
  explicit SpareArrays(TrainState& state);
  ~SpareArrays();
  SpareArrays(const SpareArrays&) = delete;
  SpareArrays& operator=(const SpareArrays&) = delete;

  // A save reads the arrays from now on, until Thaw: they stay as they are, in
  // one of the two sets. REQUIRES: no save reads any.
  void Freeze();
  void Thaw() { frozen_.assign(frozen_.size(), false); }

  // Returns true iff the tensor is a part of one of the state's large arrays.
  bool Has(const TensorView& tensor) const;
  uint64_t bytes() const;

 private:
  friend class TrainState;
  // TrainState::NextOf.
  UpdatedArray NextOf(size_t index);

  TrainState& state_;
  std::vector<std::vector<float>> arrays_;
  std::vector<bool> frozen_;  // by number of the state's array
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_SPARE_ARRAYS_H_
