// Faults that repeat without an end, so that no restart helps.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ENDLESS_FAULTS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ENDLESS_FAULTS_H_

#include <vector>

#include "harness/record/record.h"
#include "harness/run/failure/history/interruptions.h"

namespace gauntlet {

// Returns the fault of EndlessFault or, if there is none, the faults that
// repeat without an end, end processes or fail operations, and together ended
// each attempt since the first that one of them ended. Each of them ended two
// or more. Returns them in the order of the plan; empty if there are none.
std::vector<const RecordFault*> EndlessFaults(
    const Record& record, const std::vector<Interruption>& all);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ENDLESS_FAULTS_H_
