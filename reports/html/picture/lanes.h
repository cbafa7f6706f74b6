// Marks in the lanes of a picture of a run.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_LANES_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_LANES_H_

#include <cstdint>
#include <optional>

#include "harness/record/record.h"

namespace gauntlet {

// Part that an event plays in a failure and the recovery from it.
enum class Mark : uint8_t {
  kFault,
  kNotice,     // a preemption notice
  kDetection,  // a loss is detected, an attempt is given up
  kRejected,   // a save fails, a checkpoint is rejected
  kRestart,    // the launcher restarts the workers
  kResume,
};

// nullopt: the event is not marked.
std::optional<Mark> MarkOf(const LifeEvents& life, const RecordEvent& event);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_LANES_H_
