// Ends of the epochs of a run.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_EPOCH_ENDS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_EPOCH_ENDS_H_

#include <cstdint>
#include <map>

#include "harness/record/record.h"

namespace gauntlet {

// Returns the event at the end of each epoch; epochs are counted from 0. If an
// epoch ended several times, returns the event that comes last in the record.
inline std::map<uint64_t, const RecordEvent*> EpochEndsOf(
    const Record& record) {
  std::map<uint64_t, const RecordEvent*> ends;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kEpochEnd) ends[event.epoch] = &event;
    }
  }
  return ends;
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_EPOCH_ENDS_H_
