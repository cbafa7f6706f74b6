// Advice on a failed case: how to change its scenario if the run was right, and
// where to look if the engine is wrong.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_ADVICE_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_ADVICE_H_

#include <string>
#include <string_view>

#include "harness/oracle/history/outline.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Returns the command that shows the events of the case: "gauntlet show 7/c
// --all". It has "RUN/CASE" in place of the name if no command repeats the
// case.
std::string CommandToShow(const CaseResult& result, std::string_view options);

// Returns one of:
//   - "if the run was right, set outcome: fails under expect (F:9); if the
//     expectation is right, raise cluster.restart.max (3)", if only
//     expectations are not met. If no change of the scenario is known, the text
//     ends with the place to look at;
//   - "if the delay is right, raise detected_in.max in F:9 above
//     cluster.step_timeout (7s), …", if only `detection` is violated;
//   - "if the workers may wait that long, raise timeout.total … above …", if
//     the run did not end by itself;
//   - "limit fault c (set its repeat to once, …): it ends each attempt, so more
//     time does not help", if the run used up its time because one fault ended
//     each attempt;
//   - "raise timeout.total (2m), or lower preemption.requeue, …", if the run
//     used up its time and no wait had exceeded the engine's limit;
//   - "if a save may take that long, raise the grace of fault n (1s) …" or
//     "lower preemption.grace (30s) …", if only `grace` is violated;
//   - "set invariants: [store] under expect (F:9)" or "change the scenario so
//     that …", if a planted bug was not caught.
// Returns "" for other failures, and if a planted bug explains the failure.
std::string AdviceOn(const Outline& outline, const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_ADVICE_H_
