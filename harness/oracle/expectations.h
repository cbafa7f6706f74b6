// What a scenario expects of its run, held against the evidence.
#ifndef GAUNTLET_HARNESS_ORACLE_EXPECTATIONS_H_
#define GAUNTLET_HARNESS_ORACLE_EXPECTATIONS_H_

#include <vector>

#include "harness/oracle/evidence.h"
#include "harness/record/verdict.h"

namespace gauntlet {

RunFacts FactsOf(const Evidence& evidence);

// Each expectation that does not hold. The outcome `violates` is none of these:
// the judge deals with it.
std::vector<Finding> BrokenExpectations(const Evidence& evidence,
                                        const RunFacts& facts);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_EXPECTATIONS_H_
