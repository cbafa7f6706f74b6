// A result with every kind of verdict in it, for tests of reports.
#ifndef GAUNTLET_TESTS_REPORTS_SAMPLE_RESULT_H_
#define GAUNTLET_TESTS_REPORTS_SAMPLE_RESULT_H_

#include "harness/record/result.h"

namespace gauntlet {

RunResult SampleResult();

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_REPORTS_SAMPLE_RESULT_H_
