#include "engine/train/state/spare_arrays.h"

#include <algorithm>
#include <span>

#include "engine/check.h"
#include "engine/large_array.h"

namespace gauntlet {

SpareArrays::SpareArrays(TrainState& state) : state_(state) {
  for (size_t i = 0; i < state.large_arrays(); ++i) {
    arrays_.push_back(MakeLargeArray<float>(state.LargeArray(i).size()));
  }
  frozen_.resize(arrays_.size());
  state.SetSpareArrays(this);
}

SpareArrays::~SpareArrays() { state_.SetSpareArrays(nullptr); }

void SpareArrays::Freeze() {
  CHECK(std::ranges::find(frozen_, true) == frozen_.end(),
        "one save at a time");
  frozen_.assign(frozen_.size(), true);
}

bool SpareArrays::Has(const TensorView& tensor) const {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    if (IsWithin(tensor.bytes,
                 std::as_bytes(std::span(state_.LargeArray(i))))) {
      return true;
    }
  }
  return false;
}

uint64_t SpareArrays::bytes() const {
  uint64_t bytes = 0;
  for (const std::vector<float>& array : arrays_) {
    bytes += array.size() * sizeof(float);
  }
  return bytes;
}

UpdatedArray SpareArrays::NextOf(size_t index) {
  std::vector<float>& array = state_.LargeArray(index);
  if (!frozen_[index]) return UpdatedArray(array);
  frozen_[index] = false;
  array.swap(arrays_[index]);
  return {arrays_[index], array};
}

}  // namespace gauntlet
