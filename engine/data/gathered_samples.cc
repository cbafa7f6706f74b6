#include "engine/data/gathered_samples.h"

#include <cstring>

#include "engine/check.h"

namespace gauntlet {

void GatheredSamples::Clear() {
  numbers_.clear();
  gathered_ = false;
  changed_ = false;
}

void GatheredSamples::Add(uint32_t sample) {
  CHECK(sample < data_->samples, "a sample of the data");
  CHECK(!gathered_, "samples are chosen before they are gathered");
  numbers_.push_back(sample);
}

std::span<const float> GatheredSamples::features() {
  Gather();
  return features_;
}

std::span<float> GatheredSamples::MutableFeatures() {
  changed_ = true;
  Gather();
  return features_;
}

std::span<const uint8_t> GatheredSamples::labels() {
  Gather();
  return labels_;
}

void GatheredSamples::Gather() {
  if (gathered_) return;
  gathered_ = true;
  const size_t width = data_->features_per_sample();
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
