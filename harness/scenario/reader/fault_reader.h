// Reads the `faults` of a scenario into a fault plan.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_FAULT_READER_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_FAULT_READER_H_

#include <vector>

#include "chaos/inject/plan/plan.h"
#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/format/yaml_tree.h"

namespace gauntlet {

// A fault and its YAML node, which gives the place of later diagnostics.
struct PlacedFault {
  Fault fault;
  const YamlNode* node = nullptr;

  // Returns the place of `at.<key>`, or of the fault if the file has no such
  // key.
  Place AtPlace(std::string_view key) const;
};

// Reads the faults in the order of the file, without those that have an error.
// Checks everything that depends on the faults alone: names, units, parameters
// of the kind, ids, and that `after` refers to another fault and forms no
// cycle.
std::vector<PlacedFault> ReadFaults(const YamlNode* node,
                                    Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_FAULT_READER_H_
