// Compares a run with the expectations of its scenario.
#ifndef GAUNTLET_HARNESS_ORACLE_EXPECTATIONS_H_
#define GAUNTLET_HARNESS_ORACLE_EXPECTATIONS_H_

#include <vector>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

RunFacts FactsOf(const Outline& outline);

// Returns the expectations that are not met. Does not check the outcome
// `violates`, which Judge (judge.h) checks.
std::vector<Finding> BrokenExpectations(const Outline& outline,
                                        const RunFacts& facts);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_EXPECTATIONS_H_
