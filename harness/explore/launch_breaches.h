// What each start of the launcher was planned to do, against what it did.
#ifndef GAUNTLET_HARNESS_EXPLORE_LAUNCH_BREACHES_H_
#define GAUNTLET_HARNESS_EXPLORE_LAUNCH_BREACHES_H_

#include <vector>

#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// A launch that trained a changed job, that trained past the step to stop at,
// or that stopped before it without a notice.
std::vector<Finding> LaunchBreaches(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_LAUNCH_BREACHES_H_
