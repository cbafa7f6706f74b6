// Ends of processes and power losses, as the machine or a launcher reported
// them.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_PROCESS_ENDS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_PROCESS_ENDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Returns the first event from `from_ns` to `until_ns` that reports a power
// loss or the end of a process with an error; null if there is none. The exit
// of a worker that has lost another one, or that the launcher killed, is
// returned only if there is no other end.
const RecordEvent* FirstEnd(const Record& record, int64_t from_ns,
                            int64_t until_ns);

// Returns "worker 2 was killed", "all hosts lost power" or "worker 0 exited
// with code 74 (its state could not be saved, …)". REQUIRES: FirstEnd returned
// the event.
std::string EndText(const RecordEvent& end);

// Returns the fault that gave the first notice of a preemption, if a worker
// read it and would have stopped before the end of training without a grace
// period (preemption.grace); else null.
const RecordFault* NoticeWithinGrace(const Record& record);

// Returns the reason why a completed run had no restart: "no process ended
// before training was complete, …".
std::string NoRestartText(const Record& record);

// Returns job.max_steps if it ended the training of a completed run before
// job.epochs did; else nullopt.
std::optional<uint64_t> MaxStepsOfEnd(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_PROCESS_ENDS_H_
