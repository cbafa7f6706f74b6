// Events of all workers of a record.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_WORKER_EVENTS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_WORKER_EVENTS_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "harness/oracle/history/history.h"
#include "harness/record/record.h"

namespace gauntlet {

// Calls `visit` with each event of a worker.
template <typename Visitor>
void ForEachEvent(const Record& record, const Visitor& visit) {
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) visit(event);
  }
}

// Returns the first event of any worker that meets the condition; null if there
// is none.
template <typename Condition>
const RecordEvent* FirstOf(const Record& record, const Condition& meets) {
  const RecordEvent* first = nullptr;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (meets(event) && (first == nullptr || ComesBefore(event, *first))) {
      first = &event;
    }
  });
  return first;
}

// Returns the newest event of that kind that does not come after `until`; null
// if there is none. The event is of `step` or, if this is nullopt, of any step.
inline const RecordEvent* NewestUntil(const Record& record, RecordKind kind,
                                      std::optional<uint64_t> step,
                                      const RecordEvent& until) {
  const RecordEvent* newest = nullptr;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == kind && !ComesBefore(until, event) &&
        event.step == step.value_or(event.step) &&
        (newest == nullptr || ComesBefore(*newest, event))) {
      newest = &event;
    }
  });
  return newest;
}

// Returns the newest step whose save was acknowledged before the event `until`;
// 0 if none was.
inline uint64_t NewestSaveBefore(const Record& record,
                                 const RecordEvent& until) {
  uint64_t newest = 0;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == RecordKind::kSaveAcknowledged &&
        ComesBefore(event, until)) {
      newest = std::max(newest, event.step);
    }
  });
  return newest;
}

// Returns the last step that a worker had finished by `until_ns`; 0 if there is
// none.
inline uint64_t StepReachedBy(const Record& record, int64_t until_ns) {
  uint64_t last = 0;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == RecordKind::kStep && event.t_ns <= until_ns) {
      last = std::max(last, event.step);
    }
  });
  return last;
}

// Returns the last step of the reference run; UINT64_MAX if the record has no
// reference run.
inline uint64_t LastStepOf(const Record& record) {
  return record.golden.entries.empty() ? UINT64_MAX
                                       : record.golden.entries.back().step;
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_WORKER_EVENTS_H_
