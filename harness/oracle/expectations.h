// What a scenario expects of its run, held against the outline.
#ifndef GAUNTLET_HARNESS_ORACLE_EXPECTATIONS_H_
#define GAUNTLET_HARNESS_ORACLE_EXPECTATIONS_H_

#include <vector>

#include "harness/oracle/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

RunFacts FactsOf(const Outline& outline);

// Each expectation that does not hold. The outcome `violates` is none of these:
// the judge deals with it.
std::vector<Finding> BrokenExpectations(const Outline& outline,
                                        const RunFacts& facts);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_EXPECTATIONS_H_
