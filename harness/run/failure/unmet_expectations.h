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

// Returns the text of `before`, then a text about each other unmet expectation
// that the record explains. Such a text names the events that led to the found
// value: "the save of step 8 had been acknowledged when worker 1 was killed, so
// the run resumed from step 8". If all this is empty, returns a sentence that
// the run itself was right, with the value to expect instead. Returns only the
// text of `before` if a check failed too.
//
// `before`: the cause that the functions of unmet_outcome.h and old_resume.h
// return. They explain some expectations in more detail.
std::string ExplainExpectations(const Outline& outline, const Verdict& verdict,
                                const PartialCause& before = {});

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_
