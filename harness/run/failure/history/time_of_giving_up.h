// Time after which the launcher of a run that timed out would have given up.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_TIME_OF_GIVING_UP_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_TIME_OF_GIVING_UP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/record/record.h"
#include "harness/run/failure/history/interruptions.h"

namespace gauntlet {

// Returns the longest time from one restart of the job to the next; 0 if there
// were fewer than two. A restart begins with the pause before its attempt, so
// this time includes the pause.
int64_t LongestAttemptNs(const std::vector<Interruption>& all);

// Returns the time from the start of a run to the end of the last attempt that
// cluster.restart.max permits. Assumes that no attempt completes the training,
// and that each one takes as long as the longest so far. Returns nullopt
//   - if the job was restarted fewer than two times,
//   - if only lost workers are restarted, or
//   - if the launcher was started again.
std::optional<int64_t> TimeOfGivingUp(const Record& record,
                                      const std::vector<Interruption>& all);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_TIME_OF_GIVING_UP_H_
