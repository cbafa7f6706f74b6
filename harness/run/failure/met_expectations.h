// The change of a scenario's expectations with which a run would have passed.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_MET_EXPECTATIONS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_MET_EXPECTATIONS_H_

#include <string>

#include "harness/record/record.h"
#include "harness/record/result/result.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns "crash.yaml:9": the place of the key `expect`.
std::string PlaceOfExpect(const CaseResult& result);

// Returns "set outcome: refuses, restarts: {exactly: 2} and remove
// resumed_from": keys and values as a scenario file has them below `expect`.
// Also removes the keys about a restart or a lost worker if the run had none:
// the run would be inconclusive with them. Returns "" if, for one of the unmet
// expectations, no value is known that the run would have met.
std::string MetExpectationsText(const Record& record, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_MET_EXPECTATIONS_H_
