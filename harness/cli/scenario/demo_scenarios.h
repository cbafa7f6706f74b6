// The scenarios of `gauntlet run --demo`: files of scenarios/, compiled in.
#ifndef GAUNTLET_HARNESS_CLI_SCENARIO_DEMO_SCENARIOS_H_
#define GAUNTLET_HARNESS_CLI_SCENARIO_DEMO_SCENARIOS_H_

#include <span>
#include <string_view>

namespace gauntlet {

struct DemoScenario {
  std::string_view name;  // file name
  std::string_view text;
};

std::span<const DemoScenario> DemoScenarios();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SCENARIO_DEMO_SCENARIOS_H_
