// Explains why a lost worker was detected too late, and by which time limit the
// engine would have detected it.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_LIMITS_LATE_DETECTION_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_LIMITS_LATE_DETECTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"
#include "harness/run/failure/history/wait_limit.h"

namespace gauntlet {

// Returns the longest limit that a worker or the launcher waited for before it
// declared a worker lost; nullopt if none waited. Also nullopt if the losses
// waited for limits of different keys: a finding does not name its loss, so it
// is unknown which of the keys applies.
std::optional<WaitLimit> LongestWait(const Record& record);

// Returns "the launcher" if only launchers declared workers lost, else "the
// worker that detected the loss".
std::string_view DetectorText(const Record& record);

// A time limit of the engine.
struct KeyedLimit {
  std::string_view key;  // "cluster.save_timeout", or the name of the limit
  int64_t limit_ns = 0;
};

// Returns the limit of the wait in which a run hung until it was ended: that of
// a rejoin if the run ended during one, that of a save if one was pending, else
// that of a step.
KeyedLimit LimitOfLastWait(const Outline& outline);

// Returns "fault c (…) ended attempt 1: worker 0 lost rank 1 (deadline:
// cluster.step_timeout is 7s); …; a worker with a hung task still sends
// heartbeats, so only cluster.step_timeout detects it; rank 1 was declared lost
// after 7.000 s, expected at most 3.000 s (expect.detected_in.max is 3s)" if a
// loss was detected too late; else "".
std::string ExplainLateDetection(const Outline& outline,
                                 const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_LIMITS_LATE_DETECTION_H_
