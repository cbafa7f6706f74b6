// Events of all workers of a record.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_WORKER_EVENTS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_WORKER_EVENTS_H_

#include <algorithm>
#include <cstdint>

#include "harness/record/record.h"

namespace gauntlet {

// Calls `visit` with each event of a worker.
template <typename Visitor>
void ForEachEvent(const Record& record, const Visitor& visit) {
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) visit(event);
  }
}

// Returns the newest step whose save was acknowledged before that time; 0 if
// none was.
inline uint64_t NewestSaveBefore(const Record& record, int64_t until_ns) {
  uint64_t newest = 0;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == RecordKind::kSaveAcknowledged && event.t_ns < until_ns) {
      newest = std::max(newest, event.step);
    }
  });
  return newest;
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_WORKER_EVENTS_H_
