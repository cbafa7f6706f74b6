#include "engine/data/gathered_rows.h"

#include <cstring>

#include "engine/check.h"

namespace gauntlet {

void GatheredRows::Clear() {
  numbers_.clear();
  gathered_ = false;
  changed_ = false;
}

void GatheredRows::Add(uint32_t row) {
  CHECK(row < data_->rows, "a row of the data");
  CHECK(!gathered_, "rows are chosen before they are gathered");
  numbers_.push_back(row);
}

std::span<const float> GatheredRows::features() {
  Gather();
  return features_;
}

std::span<float> GatheredRows::MutableFeatures() {
  changed_ = true;
  Gather();
  return features_;
}

std::span<const uint8_t> GatheredRows::labels() {
  Gather();
  return labels_;
}

void GatheredRows::Gather() {
  if (gathered_) return;
  gathered_ = true;
  const size_t width = data_->features_per_row();
  features_.resize(numbers_.size() * width);
  labels_.resize(numbers_.size());
  for (size_t i = 0; i < numbers_.size(); ++i) {
    std::memcpy(features_.data() + i * width,
                data_->features.data() + numbers_[i] * width,
                width * sizeof(float));
    labels_[i] = data_->labels[numbers_[i]];
  }
}

}  // namespace gauntlet
