// Writes a case as a scenario file: the inverse of loading one.
#ifndef GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_SCENARIO_H_
#define GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_SCENARIO_H_

#include <string>

#include "engine/status.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// The comment on top of a scenario, each part of one or more lines.
struct ScenarioHeader {
  std::string goal;    // the claim that the scenario is to show
  std::string method;  // what is done for it
  std::string expect;  // what must come of it
};

// A document with the one case, its matrix resolved; `one.scenario` is its
// name. What stands at its default is left out. The strict loader reads it as
// an equal case (DescribeCaseDifference is ""), or this is an error:
// kInvalidArgument says what a scenario cannot say, such as layers that are no
// preset's, or a fault that can never fire.
Result<std::string> WriteScenario(const Case& one,
                                  const ScenarioHeader& header);

// Returns the first difference in what two cases run and expect, in one line:
// "seed: 1, then 2"; empty if there is none. Names, files and places are not
// compared.
std::string DescribeCaseDifference(const Case& a, const Case& b);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_SCENARIO_H_
