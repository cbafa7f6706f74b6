// The default base case of `gauntlet explore`: a file of scenarios/, compiled
// in.
#ifndef GAUNTLET_HARNESS_CLI_SCENARIO_EXPLORE_BASE_H_
#define GAUNTLET_HARNESS_CLI_SCENARIO_EXPLORE_BASE_H_

#include "harness/cli/scenario/demo_scenarios.h"

namespace gauntlet {

DemoScenario ExploreBase();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SCENARIO_EXPLORE_BASE_H_
