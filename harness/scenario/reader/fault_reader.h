// The `faults` of a scenario, as a fault plan.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_FAULT_READER_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_FAULT_READER_H_

#include <vector>

#include "chaos/inject/plan/plan.h"
#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/format/yaml_tree.h"

namespace gauntlet {

// A fault and the node that it was read from, which later checks point at.
struct PlacedFault {
  Fault fault;
  const YamlNode* node = nullptr;

  // The place of `at.<key>` if it is written down, else of the fault.
  Place AtPlace(std::string_view key) const;
};

// In the order of the file; a fault with an error in it is left out. Checks all
// that can be seen in the faults alone: names, units, parameters of the kind,
// ids, and that `after` leads to another fault and not round in a circle.
std::vector<PlacedFault> ReadFaults(const YamlNode* node,
                                    Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_FAULT_READER_H_
