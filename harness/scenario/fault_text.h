// Values of a fault's site and parameters as a scenario writes them.
#ifndef GAUNTLET_HARNESS_SCENARIO_FAULT_TEXT_H_
#define GAUNTLET_HARNESS_SCENARIO_FAULT_TEXT_H_

#include <string>

#include "chaos/inject/plan/fault_parameters.h"
#include "chaos/inject/plan/plan.h"

namespace gauntlet {

// Returns an offset in bytes as "40", one in percent as "50%".
std::string OffsetText(const FileOffset& offset);

// Returns the value of the parameter: "500ms", "[0, 2]", "power_loss".
std::string FaultParameterText(const FaultParameterInfo& parameter,
                               const FaultParameters& with);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FAULT_TEXT_H_
