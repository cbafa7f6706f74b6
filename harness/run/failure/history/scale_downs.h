// Attempts of a run that had fewer workers than the attempt before.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_SCALE_DOWNS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_SCALE_DOWNS_H_

#include <string>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// Returns "the launcher scaled the cluster down from 2 workers to 1 (attempt
// 4), as worker 1 had failed 3 times in a row and cluster.min_workers is 1" for
// each attempt with fewer workers than the one before, in their order.
std::vector<std::string> ScaleDownTexts(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_SCALE_DOWNS_H_
