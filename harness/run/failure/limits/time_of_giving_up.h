// Time after which the launcher of a run that timed out would have given up.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_LIMITS_TIME_OF_GIVING_UP_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_LIMITS_TIME_OF_GIVING_UP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/record/record.h"
#include "harness/run/failure/history/interruptions.h"

namespace gauntlet {

// Returns the duration of the longest attempt after which the launcher
// restarted the job, without the pause before the attempt; 0 if there is none.
int64_t LongestAttemptNs(const Record& record,
                         const std::vector<Interruption>& all);

// Returns the time from the start of a run to the end of the last attempt that
// cluster.restart.max permits. Assumes that no attempt completes the training,
// that each one takes as long as the longest so far, and that the pauses go on
// doubling iff the last one was longer than the one before. Returns nullopt
//   - if the job was restarted fewer than two times,
//   - if only lost workers are restarted, or
//   - if the launcher was started again.
std::optional<int64_t> TimeOfGivingUp(const Record& record,
                                      const std::vector<Interruption>& all);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_LIMITS_TIME_OF_GIVING_UP_H_
