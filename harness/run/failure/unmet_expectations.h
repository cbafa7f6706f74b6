// Explains a run that passed every check, but does not meet the expectations of
// its scenario.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_

#include <functional>
#include <set>
#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// A cause that explains some of the unmet expectations.
struct PartialCause {
  std::string text = {};
  // Names of the expectations that the text explains: "resumed_from".
  std::set<std::string, std::less<>> expectations = {};
  bool has_ends = false;  // the text describes the ends of the attempts
};

// Returns the cause with a sentence about each other unmet expectation that the
// record explains: the events that led to the found value, such as "the save of
// step 8 had been acknowledged when worker 1 was killed, so the run resumed
// from step 8". If the record explains none, and there is no other cause, the
// sentence states that the run itself was right, and the value to expect
// instead. Returns only the cause if a check failed too.
//
// unmet_outcome.h and old_resume.h explain some expectations in more detail:
// call them before.
std::string ExplainExpectations(const Outline& outline, const Verdict& verdict,
                                const PartialCause& before = {});

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_
