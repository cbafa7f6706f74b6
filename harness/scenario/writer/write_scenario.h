// Writes a case as a scenario file: the inverse of loading one.
#ifndef GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_SCENARIO_H_
#define GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_SCENARIO_H_

#include <string>

#include "engine/status.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Comment at the top of a scenario; each part has one or more lines.
struct ScenarioHeader {
  std::string goal;    // the claim that the scenario tests
  std::string method;  // the means of testing it
  std::string expect;  // the expected result
};

// Returns a document with the one case, its matrix resolved; `one.scenario` is
// its name. Leaves out default values. The strict loader reads it back as an
// equal case (DescribeCaseDifference is ""). kInvalidArgument: the case cannot
// be written so; the message names the part that a scenario cannot express,
// such as layers of no preset, or a fault that can never fire.
Result<std::string> WriteScenario(const Case& one,
                                  const ScenarioHeader& header);

// Returns the first difference in what two cases run and expect, in one line:
// "seed: 1, then 2"; "" if there is none. Does not compare names, files and
// places.
std::string DescribeCaseDifference(const Case& a, const Case& b);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_SCENARIO_H_
