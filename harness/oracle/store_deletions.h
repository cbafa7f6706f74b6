// When stores were deleted: a run whose end nobody saw leaves none behind.
#ifndef GAUNTLET_HARNESS_ORACLE_STORE_DELETIONS_H_
#define GAUNTLET_HARNESS_ORACLE_STORE_DELETIONS_H_

#include <cstdint>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

struct StoreDeletion {
  const LifeEvents* life = nullptr;  // of a chief that had done all
  int64_t t_ns = 0;
};

struct StoreDeletions {
  // Whole, or cut short when the claims were gone; in the order of time.
  std::vector<StoreDeletion> all;
  // Of stores that a later generation had claimed before they had finished: it
  // was not theirs any more.
  std::vector<StoreDeletion> of_anothers;
};

StoreDeletions FindStoreDeletions(const Record& record);

// Whether the run deletes its store once it has finished: it was told to, and
// ends in a finite state.
bool DeletesStoreAtTheEnd(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_STORE_DELETIONS_H_
