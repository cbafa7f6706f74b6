// Writes a case as a scenario file: the inverse of loading one.
#ifndef GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_SCENARIO_H_
#define GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_SCENARIO_H_

#include <string>

#include "engine/status.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// The comment at the top of a scenario file. Each part has one or more lines.
struct ScenarioHeader {
  std::string goal;    // the claim that the scenario tests
  std::string method;  // the means of testing it
  std::string expect;  // the expected result
};

// Returns a document with the one case; values of a matrix are written as plain
// keys. The document's name is `one.scenario`. Leaves out default values. The
// loader reads the document back as an equal case (DescribeCaseDifference is
// ""). kInvalidArgument: a scenario cannot express a part of the case, such as
// layers that no preset has, or a fault that can never fire. The message names
// that part.
Result<std::string> WriteScenario(const Case& one,
                                  const ScenarioHeader& header);

// Returns the first difference between two cases in what they run or expect, in
// one line: "seed: 1, then 2"; "" if there is none. Names, files and places are
// not compared.
std::string DescribeCaseDifference(const Case& a, const Case& b);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_WRITER_WRITE_SCENARIO_H_
