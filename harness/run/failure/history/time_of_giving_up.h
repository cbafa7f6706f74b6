// Time after which the launcher of a run that timed out would have given up.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_TIME_OF_GIVING_UP_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_TIME_OF_GIVING_UP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/record/record.h"
#include "harness/run/failure/history/interruptions.h"

namespace gauntlet {

// Returns the longest time from the start of an attempt of the run to that of
// the next one; 0 if the launcher restarted no job.
int64_t LongestAttemptNs(const std::vector<Interruption>& all);

// Returns the time from the start of a run to the end of its last permitted
// attempt (cluster.restart.max), if all attempts from the last one on end as
// well, and each takes as long as the longest before. Returns nullopt if there
// is no attempt to compare with, if only lost workers are restarted, or if the
// launcher was started again.
std::optional<int64_t> TimeOfGivingUp(const Record& record,
                                      const std::vector<Interruption>& all);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_TIME_OF_GIVING_UP_H_
