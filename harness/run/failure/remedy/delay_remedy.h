// Changes of a delaying fault, or of the time limit that it exceeded.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_DELAY_REMEDY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_DELAY_REMEDY_H_

#include <string>

#include "harness/record/record.h"
#include "harness/run/failure/history/first_sign.h"

namespace gauntlet {

// Returns the change after which the fault no longer leads to the loss of a
// worker: "set the duration of fault n (20s) to 2500ms or less, half of
// cluster.heartbeat.lost_after (5s), or raise cluster.heartbeat.lost_after (5s)
// to 40s or more, twice as long"; "" if the sign is no loss by a time limit of
// the scenario, or the fault does not delay.
std::string ShorterDelay(const Record& record, const RecordFault& fault,
                         const FirstSign& sign);

// Returns the change after which the fault leads to the loss of a worker: "set
// the latency of fault s (100ms) to 1m or more, twice cluster.step_timeout
// (30s)"; "" if the fault does not delay, or is that long already.
std::string LongerDelay(const RunSetup& setup, const RecordFault& fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_DELAY_REMEDY_H_
