// Samples chosen from a dataset. Their features and labels are copied on first
// use, so a caller that needs only the sample numbers avoids the copies.
#ifndef GAUNTLET_ENGINE_DATA_GATHERED_SAMPLES_H_
#define GAUNTLET_ENGINE_DATA_GATHERED_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/dataset.h"

namespace gauntlet {

class GatheredSamples {
 public:
  // `data` must outlive this object.
  explicit GatheredSamples(const Dataset& data) : data_(&data) {}

  // Starts a new, empty selection.
  void Clear();
  // REQUIRES: `sample` is a sample of the data; the selection is not yet
  // gathered.
  void Add(uint32_t sample);

  // Numbers of the selected samples in the data, in the order of the Add calls.
  std::span<const uint32_t> numbers() const { return numbers_; }
  // The features (samples x features_per_sample), and the labels. Valid until
  // Clear.
  std::span<const float> features();
  std::span<const uint8_t> labels();
  // Returns the features, for the caller to change. Changes last until Clear.
  // After this call changed() is true: the sample numbers may no longer
  // identify the features.
  std::span<float> MutableFeatures();
  bool changed() const { return changed_; }

 private:
  void Gather();

  const Dataset* data_;
  std::vector<uint32_t> numbers_;
  bool gathered_ = false;
  bool changed_ = false;
  std::vector<float> features_;
  std::vector<uint8_t> labels_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_GATHERED_SAMPLES_H_
