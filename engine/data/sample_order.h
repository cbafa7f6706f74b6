// The order in which an epoch takes the rows: a permutation keyed by (seed,
// epoch). So one integer, the position, states how far an epoch has come.
#ifndef GAUNTLET_ENGINE_DATA_SAMPLE_ORDER_H_
#define GAUNTLET_ENGINE_DATA_SAMPLE_ORDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/numerics.h"

namespace gauntlet {

// Positions [first, first + count) in the epoch's order.
struct RowRange {
  uint64_t first = 0;
  uint64_t count = 0;
};

// The order of the rows in one epoch: a pure function with O(1) memory.
class SampleOrder {
 public:
  SampleOrder(uint64_t rng_key, uint64_t epoch, uint32_t rows);
  // Uses an order that was computed before: `known` has the dataset row at each
  // position.
  explicit SampleOrder(std::shared_ptr<const std::vector<uint32_t>> known);
  // Returns the dataset row at the position. REQUIRES: position < rows.
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

// Returns the part of one replica in a step that starts at `position` and takes
// `step_rows` rows. Each replica, in order, takes the next `batch` rows. In the
// last step of an epoch a replica may get fewer rows, or none.
RowRange ReplicaRows(uint64_t position, uint64_t step_rows, uint64_t batch,
                     uint64_t replica);

// Returns the contiguous part of `rows` rows that one replica evaluates. The
// parts are in replica order, and their sizes differ by at most one.
RowRange EvaluationRows(uint64_t rows, uint64_t replicas, uint64_t replica);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_SAMPLE_ORDER_H_
