// Changes of a delaying fault, or of the time limit that it exceeded.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_DELAY_REMEDY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_DELAY_REMEDY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/record/record.h"
#include "harness/run/failure/history/first_sign.h"
#include "harness/run/failure/history/wait_limit.h"

namespace gauntlet {

// Returns the change after which the fault no longer leads to the loss of a
// worker: "set the duration of fault n (20s) to 2500ms or less, half of
// cluster.heartbeat.lost_after (5s), or raise cluster.heartbeat.lost_after (5s)
// to 40s or more, twice as long"; "" if the sign is no loss by a time limit of
// the scenario, or the fault does not delay.
std::string ShorterDelay(const Record& record, const RecordFault& fault,
                         const FirstSign& sign);

// A delay too short to be sure to exceed the time limit of a wait.
struct ShortDelay {
  std::string_view parameter;  // of the fault: "latency" or "duration"
  int64_t by_ns = 0;
  WaitLimit limit;  // limit that a longer delay would exceed
};

// Returns nullopt if the fault does not delay, has no end, or takes twice as
// long as the limit. A wait may begin some time after its delay, so that a
// delay just above the limit may not exceed it.
std::optional<ShortDelay> FindShortDelay(const RunSetup& setup,
                                         const RecordFault& fault);

// Returns the change after which the fault leads to the loss of a worker: "set
// the latency of fault s (100ms) to 1m, well above cluster.step_timeout (30s),
// the limit of a wait for the worker"; "" if FindShortDelay returns nullopt.
std::string LongerDelay(const RunSetup& setup, const RecordFault& fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_DELAY_REMEDY_H_
