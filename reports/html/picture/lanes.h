// Marks in the lanes of a picture of a run.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_LANES_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_LANES_H_

#include <cstdint>
#include <optional>

#include "harness/record/record.h"

namespace gauntlet {

// Role of an event in a failure and the recovery from it.
enum class Mark : uint8_t {
  kFault,
  kNotice,     // a preemption notice
  kDetection,  // a loss is detected, or an attempt ends
  kRejected,   // a save fails, a checkpoint is rejected
  kRestart,    // the launcher restarts the workers
  kResume,
};

// Returns nullopt if the event is not marked.
std::optional<Mark> MarkOf(const IncarnationEvents& incarnation,
                           const RecordEvent& event);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_LANES_H_
