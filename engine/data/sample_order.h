// Which rows a step takes: a keyed permutation of (seed, epoch), so that the
// place in the data is one integer, the position.
#ifndef GAUNTLET_ENGINE_DATA_SAMPLE_ORDER_H_
#define GAUNTLET_ENGINE_DATA_SAMPLE_ORDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/numerics.h"

namespace gauntlet {

// Rows [first, first + count) of the epoch's order.
struct RowRange {
  uint64_t first = 0;
  uint64_t count = 0;
};

// The order of one epoch. Pure; O(1) memory.
class SampleOrder {
 public:
  SampleOrder(uint64_t rng_key, uint64_t epoch, uint32_t rows);
  // An order that was worked out before: the dataset row at each position.
  explicit SampleOrder(std::shared_ptr<const std::vector<uint32_t>> known);
  // The dataset row at the position. REQUIRES: position < rows.
  uint32_t RowAt(uint64_t position) const {
    return known_ != nullptr && position < known_->size()
               ? (*known_)[position]
               : ComputeRow(position);
  }

 private:
  uint32_t ComputeRow(uint64_t position) const;

  numerics::Permutation permutation_;
  std::shared_ptr<const std::vector<uint32_t>> known_;  // null: computed
};

// The part of the `step_rows` rows of a step (they start at `position`) that
// the replica takes: blocks of `batch` rows in replica order; the last step of
// an epoch may leave a replica fewer rows, or none.
RowRange ReplicaRows(uint64_t position, uint64_t step_rows, uint64_t batch,
                     uint64_t replica);

// Contiguous share of `rows` rows for evaluation: balanced, in replica order.
RowRange EvaluationRows(uint64_t rows, uint64_t replicas, uint64_t replica);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_SAMPLE_ORDER_H_
