// Delays that exceeded a time limit only together.
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
  size_t count = 0;        // delays, one after the other
  int64_t longest_ns = 0;  // of one of them
  int64_t total_ns = 0;
};

// Delays during a wait, of a worker's tasks or of frames.
struct AddedDelays {
  std::vector<DelaySum> sums = {};  // by fault; empty: no delays added up
  int worker = 0;                   // that was delayed, unless frames were
  size_t late_frames = 0;           // 0: a worker was delayed

  int64_t total_ns() const;
};

// Returns the time for which one occurrence of the fault delays a task or its
// process; 0 if it does not, or has no end.
int64_t DelayOf(const RecordFault& fault);

// Returns the delays during the wait that ended with this sign, if the sign is
// the loss of a worker, none of them exceeds its time limit, and together they
// do. Of late frames, as many count as exceed the limit one after the other:
// the frames of an exchange wait for each other, unlike heartbeats.
AddedDelays FindAddedDelays(const Record& record, const FirstSign& sign);

// Returns ", as delays add up: fault s fired 2 times (3s each) in worker 1
// during the wait, 6s in all"; "" if no delays added up.
std::string AddedDelaysText(const Record& record, const FirstSign& sign);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ADDED_DELAYS_H_
