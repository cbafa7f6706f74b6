// Explains failed cases with planted bugs, such as a mutation test whose bug
// was not caught.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_UNCAUGHT_BUG_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_UNCAUGHT_BUG_H_

#include <string>
#include <vector>

#include "harness/oracle/history/outline.h"
#include "harness/record/record.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Returns "no check found a violation: lose-position shows only when a worker
// resumes from a checkpoint of a step within an epoch; this run resumed from
// step 12"; "" if a check found a violation, or if the case is no failed
// mutation test.
std::string ExplainUncaughtBug(const Record& record, const Verdict& verdict);

// Returns "; fault f (gpu_error …) fired in worker 1 at step 8; then worker 1
// exited with code 1: save of step 10: …". The text names the faults that fired
// in the worker of `first` at the step of `first`. It also names the faults
// that failed the worker's device before the worker reported a state other than
// the reference run's. If the run ended without completing the training, adds
// its end. Returns "" if no bug is planted, or if there is nothing to name.
std::string EventsAtDifferenceText(const Outline& outline,
                                   const StateDifference& first);
// Returns EventsAtDifferenceText for the first of the differences. Without
// differences, returns that text for the worker that was the first to report a
// state other than the reference run's; "" if there is none.
std::string EventsAtDepartureText(
    const Outline& outline, const std::vector<StateDifference>& differences);

// Returns the change of the scenario with which the bug is caught. If checks
// found violations in this run, names these checks, and the rules of the checks
// that the scenario expects and that found none. If no check found one, names
// the settings and faults with which the bug shows. If a check found a
// violation in a case that is no mutation test, returns the advice to remove
// the bugs. If that may leave an expectation unmet, adds the reason that the
// record shows: "then run again: resumed_from: {step: 12} may stay unmet, as
// …". Returns "" for other cases.
std::string AdviceOnUncaughtBug(const Record& record, const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_UNCAUGHT_BUG_H_
