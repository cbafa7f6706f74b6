// The order in which an epoch takes the samples: a permutation keyed by (seed,
// epoch). So one integer, the position, states how far an epoch has come.
#ifndef GAUNTLET_ENGINE_DATA_SAMPLE_ORDER_H_
#define GAUNTLET_ENGINE_DATA_SAMPLE_ORDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/numerics.h"

namespace gauntlet {

// Positions [first, first + count) in the epoch's order.
struct SampleRange {
  uint64_t first = 0;
  uint64_t count = 0;
};

// The order of the samples in one epoch: a pure function with O(1) memory.
class SampleOrder {
 public:
  SampleOrder(uint64_t rng_key, uint64_t epoch, uint32_t samples);
  // Uses an order that was computed before: `known` has the sample at each
  // position, as its number in the dataset.
  explicit SampleOrder(std::shared_ptr<const std::vector<uint32_t>> known);
  // Returns the sample at the position, as its number in the dataset. REQUIRES:
  // position < samples.
  uint32_t SampleAt(uint64_t position) const {
    return known_ != nullptr && position < known_->size()
               ? (*known_)[position]
               : ComputeSample(position);
  }

 private:
  uint32_t ComputeSample(uint64_t position) const;

  numerics::Permutation permutation_;
  std::shared_ptr<const std::vector<uint32_t>> known_;  // null: computed
};

// Returns the part of one replica in a step that starts at `position` and takes
// `step_samples` samples. Each replica, in order, takes the next `batch`
// samples. In the last step of an epoch a replica may get fewer samples, or
// none.
SampleRange ReplicaSamples(uint64_t position, uint64_t step_samples,
                           uint64_t batch, uint64_t replica);

// Returns the contiguous part of `samples` samples that one replica evaluates.
// The parts are in replica order, and their sizes differ by at most one.
SampleRange EvaluationSamples(uint64_t samples, uint64_t replicas,
                              uint64_t replica);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_SAMPLE_ORDER_H_
