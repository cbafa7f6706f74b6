// Delays that exceeded a time limit together, although none did alone.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ADDED_DELAYS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ADDED_DELAYS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/record/record.h"
#include "harness/run/failure/history/first_sign.h"

namespace gauntlet {

// Delays by one fault that add up during a wait.
struct DelaySum {
  const RecordFault* fault = nullptr;
  size_t count = 0;        // number of delays, one after the other
  int64_t longest_ns = 0;  // longest single delay
  int64_t total_ns = 0;
};

// The delays of a worker's tasks, or of frames, during one wait.
struct AddedDelays {
  std::vector<DelaySum> sums = {};  // by fault; empty: no delays added up
  int worker = 0;                   // the delayed worker, if late_frames is 0
  size_t late_frames = 0;           // number; 0: a worker was delayed

  int64_t total_ns() const;
};

// Returns the time for which one occurrence of the fault delays a task, its
// process or a device. Returns 0 if the fault delays none of these, or if its
// delay has no end.
int64_t DelayOf(const RecordFault& fault);

// If `sign` is the loss of a worker by a time limit, returns the delays that
// exceeded this limit together, although none did alone; else returns none.
// Late frames count only if the wait was for an exchange, because the frames of
// an exchange wait for each other, and heartbeats do not. Returns only as many
// late frames as are needed to exceed the limit.
AddedDelays FindAddedDelays(const Record& record, const FirstSign& sign);

// Returns ", as delays add up: fault s fired 2 times (3s each) in worker 1
// during the wait, 6s in all"; "" if no delays added up.
std::string AddedDelaysText(const Record& record, const FirstSign& sign);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ADDED_DELAYS_H_
