// A result with every kind of verdict in it, for tests of reports.
#ifndef GAUNTLET_TESTS_REPORTS_SAMPLE_RESULT_H_
#define GAUNTLET_TESTS_REPORTS_SAMPLE_RESULT_H_

#include "harness/record/result/case_tries.h"
#include "harness/record/result/result.h"

namespace gauntlet {

RunResult SampleResult();
// A case that the run left: it was not run.
CaseResult CaseLeft();
// A case that failed first and then passed, as result of both tries.
CaseResult FlakyCase(FlakyVerdict verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_REPORTS_SAMPLE_RESULT_H_
