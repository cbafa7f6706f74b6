// Explains why a lost worker was detected too late, and by which time limit the
// engine would have detected it.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_LATE_DETECTION_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_LATE_DETECTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// A time limit of the scenario that a worker waited for before it declared
// another one lost.
struct WaitLimit {
  std::string_view key;  // "cluster.step_timeout"
  int64_t limit_ns = 0;
  int worker = 0;  // that waited
};

// Returns the longest limit that a worker waited for; nullopt if none did. A
// finding names no loss, so the result is also nullopt if the losses waited for
// the limits of different keys.
std::optional<WaitLimit> LongestWait(const Record& record);

// A time limit of the scenario.
struct KeyedLimit {
  std::string_view key;  // "cluster.save_timeout"
  int64_t limit_ns = 0;
};

// Returns the limit with which the engine ends the wait that a run ended in:
// that of a save if one was pending, else that of a step.
KeyedLimit LimitOfLastWait(const Outline& outline);

// Returns "fault c (…) ended attempt 1: …; rank 1 was declared lost after
// 7.000 s, expected at most 3.000 s (cluster.step_timeout is 7s,
// expect.detected_in.max 3s)" if a loss was detected too late; else "".
std::string ExplainLateDetection(const Outline& outline,
                                 const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_LATE_DETECTION_H_
