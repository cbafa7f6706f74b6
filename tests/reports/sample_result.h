// A result with every kind of verdict, for tests of reports.
#ifndef GAUNTLET_TESTS_REPORTS_SAMPLE_RESULT_H_
#define GAUNTLET_TESTS_REPORTS_SAMPLE_RESULT_H_

#include "harness/record/result/case_tries.h"
#include "harness/record/result/result.h"

namespace gauntlet {

RunResult SampleResult();
// Returns a case that was not run because the run ended early.
CaseResult CaseLeft();
// Returns a simulated case that resumed from an older step than its scenario
// expects; each check passed.
CaseResult UnmetCase();
// Returns the combined result of a case that failed first and then passed.
CaseResult FlakyCase(FlakyVerdict verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_REPORTS_SAMPLE_RESULT_H_
