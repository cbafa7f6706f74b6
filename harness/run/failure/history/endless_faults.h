// Faults that repeat without an end, so that they end attempt after attempt.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ENDLESS_FAULTS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ENDLESS_FAULTS_H_

#include <vector>

#include "harness/record/record.h"
#include "harness/run/failure/history/interruptions.h"

namespace gauntlet {

// Returns the fault of EndlessFault. If there is none, returns faults that
// ended the attempts together, in the order of the plan. Each of them repeats
// without an end, ends processes or fails operations, and ended two or more
// attempts. Returns none if, after the first attempt that one of them ended, an
// attempt ended without any of them.
std::vector<const RecordFault*> EndlessFaults(
    const Record& record, const std::vector<Interruption>& all);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ENDLESS_FAULTS_H_
