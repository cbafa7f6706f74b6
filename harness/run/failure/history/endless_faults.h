// Faults that repeat without an end, so that they end attempt after attempt.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ENDLESS_FAULTS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ENDLESS_FAULTS_H_

#include <vector>

#include "harness/record/record.h"
#include "harness/run/failure/history/interruptions.h"

namespace gauntlet {

// Returns the fault that EndlessFault returns, if there is one. Otherwise
// returns a group of faults, in the order of the plan. Each of them repeats
// without limit, kills processes or makes operations fail, and ended at least
// two attempts. From the first attempt that the group ended, each attempt must
// have been ended by one of them; otherwise returns none.
std::vector<const RecordFault*> EndlessFaults(
    const Record& record, const std::vector<Interruption>& all);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ENDLESS_FAULTS_H_
