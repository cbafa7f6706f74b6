// A fault as an item of a scenario's `faults`: the inverse of fault_reader.h.
#ifndef GAUNTLET_HARNESS_SCENARIO_WRITER_FAULT_WRITER_H_
#define GAUNTLET_HARNESS_SCENARIO_WRITER_FAULT_WRITER_H_

#include <string>

#include "chaos/inject/plan/plan.h"

namespace gauntlet {

// Lines, indented by two. What stands at its default is left out, but for the
// point. REQUIRES: the fault is one of a valid plan.
std::string FaultToYaml(const Fault& fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_WRITER_FAULT_WRITER_H_
