// Whether the base of an exploration holds while nothing goes wrong.
#ifndef GAUNTLET_HARNESS_EXPLORE_BASE_CHECK_H_
#define GAUNTLET_HARNESS_EXPLORE_BASE_CHECK_H_

#include <string>

#include "engine/status.h"
#include "harness/run/reference.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

struct BaseCheck {
  std::string skipped;  // why the simulated world cannot do it; "": it can
  std::string wrong;    // what does not hold; "": it holds
};

// Runs the base without its faults and planted bugs, as it is and as each of
// SetupsOf(base): it is to complete. Only the first thing that is wrong is
// told. An error if the reference run cannot be had.
Result<BaseCheck> CheckBase(const Case& base, References& references);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_BASE_CHECK_H_
