// Writes a fault as an item of a scenario's `faults`: the inverse of
// fault_reader.h.
#ifndef GAUNTLET_HARNESS_SCENARIO_WRITER_FAULT_WRITER_H_
#define GAUNTLET_HARNESS_SCENARIO_WRITER_FAULT_WRITER_H_

#include <string>

#include "chaos/inject/plan/plan.h"

namespace gauntlet {

// Returns lines indented by two spaces. Leaves out default values, except for
// the point. REQUIRES: the fault belongs to a valid plan.
std::string FaultToYaml(const Fault& fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_WRITER_FAULT_WRITER_H_
