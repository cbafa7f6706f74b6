// A record of two workers, one of which crashes, for tests of timelines.
#ifndef GAUNTLET_TESTS_REPORTS_SAMPLE_RECORD_H_
#define GAUNTLET_TESTS_REPORTS_SAMPLE_RECORD_H_

#include "harness/record/record.h"

namespace gauntlet {

// Returns a record in which worker 1 crashes in step 3. Both workers restart
// and resume from step 2.
Record SampleRecord();

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_REPORTS_SAMPLE_RECORD_H_
