// Delays that exceeded a time limit only together.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ADDED_DELAYS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ADDED_DELAYS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"
#include "harness/run/failure/history/first_sign.h"

namespace gauntlet {

// Delays by one fault during a wait, of one process or of the frames of all.
struct DelaySum {
  const RecordFault* fault = nullptr;
  int worker = -1;  // that was delayed; -1: frames were
  size_t count = 0;
  int64_t longest_ns = 0;
  int64_t total_ns = 0;
};

// Returns the time for which one occurrence of the fault delays a task or its
// process; 0 if it does not, or has no end.
int64_t DelayOf(const RecordFault& fault);

// Returns the delays during the wait that ended with this sign, if the sign is
// the loss of a worker, none of them exceeds its time limit, and together they
// do; else an empty list.
std::vector<DelaySum> AddedDelays(const Record& record, const FirstSign& sign);

// Returns ", as delays add up: fault s fired 2 times in worker 1 during the
// wait (3s each, 6s in all)"; "" if there are no AddedDelays.
std::string AddedDelaysText(const Record& record, const FirstSign& sign);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_ADDED_DELAYS_H_
