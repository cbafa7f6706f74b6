// Checks that the base of an exploration passes without any fault.
#ifndef GAUNTLET_HARNESS_EXPLORE_TRIAL_BASE_CHECK_H_
#define GAUNTLET_HARNESS_EXPLORE_TRIAL_BASE_CHECK_H_

#include <string>

#include "engine/status.h"
#include "harness/run/reference.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

struct BaseCheck {
  std::string skipped;  // why the simulated world cannot run it; "" if it can
  std::string failure;  // set-up and first finding; "" if all runs passed
};

// Runs the base and each of SetupsOf(base), without faults and planted bugs.
// Every run must pass. Reports only the first failure. Returns an error if the
// reference run cannot be made.
Result<BaseCheck> CheckBase(const Case& base, References& references);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_TRIAL_BASE_CHECK_H_
