// When stores were deleted: a run whose end nobody saw leaves none behind.
#ifndef GAUNTLET_HARNESS_ORACLE_STORE_DELETIONS_H_
#define GAUNTLET_HARNESS_ORACLE_STORE_DELETIONS_H_

#include <cstdint>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

struct StoreDeletions {
  // By lives that had done all their training, whole or cut short when the
  // claims were gone, in the order of time.
  std::vector<int64_t> at_ns;
  // Lives that deleted one which a later generation had claimed before they had
  // finished: it was not theirs any more.
  std::vector<const LifeEvents*> of_anothers;
};

StoreDeletions FindStoreDeletions(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_STORE_DELETIONS_H_
