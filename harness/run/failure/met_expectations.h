// The change of a scenario's expectations with which a run would have passed.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_MET_EXPECTATIONS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_MET_EXPECTATIONS_H_

#include <span>
#include <string>

#include "harness/record/verdict.h"

namespace gauntlet {

// Returns "set outcome: refuses, restarts: {exactly: 2} and remove
// resumed_from": keys and values as a scenario file has them below `expect`.
// Returns "" if a run met no expectation in place of one of the findings.
std::string MetExpectationsText(std::span<const Finding> findings);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_MET_EXPECTATIONS_H_
