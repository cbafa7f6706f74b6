// The events of a run as one ordered list, for tests to edit.
#ifndef GAUNTLET_TESTS_HARNESS_ORACLE_RUN_EVENTS_H_
#define GAUNTLET_TESTS_HARNESS_ORACLE_RUN_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/oracle/history/history.h"
#include "harness/record/record.h"

namespace gauntlet {

inline constexpr int64_t kTick = 1'000'000;

inline Emitter WorkerProcess(int worker, int incarnation) {
  return {.kind = Emitter::Kind::kWorker,
          .worker = worker,
          .incarnation = incarnation};
}
inline Emitter LauncherProcess(int start) {
  return {.kind = Emitter::Kind::kLauncher, .incarnation = start};
}
inline constexpr Emitter kMachine = {.kind = Emitter::Kind::kMachine};

struct EmittedEvent {
  Emitter by;
  RecordEvent event;
  int64_t wait_ns = kTick;  // since the previous event
};

class RunEvents {
 public:
  void Append(const Emitter& by, RecordEvent event);

  // These functions act on the nth event (from 0) of a kind that a process
  // emits. REQUIRES: the event exists.
  RecordEvent& At(const Emitter& by, RecordKind kind, size_t nth = 0);
  void Remove(const Emitter& by, RecordKind kind, size_t nth = 0);
  void Repeat(const Emitter& by, RecordKind kind, size_t nth = 0);
  // Moves the event to directly after another one.
  void MoveAfter(const Emitter& by, RecordKind kind, const Emitter& other,
                 RecordKind other_kind, size_t other_nth = 0);
  // Inserts a pause before the event.
  void Delay(int64_t ns, const Emitter& by, RecordKind kind, size_t nth = 0);
  // Removes everything after the event.
  void CutAfter(const Emitter& by, RecordKind kind, size_t nth = 0);

  // Inserts an event that the process `by` emits, directly before or after an
  // event that the process `at` emits.
  void InsertBefore(const Emitter& at, RecordKind kind, size_t nth,
                    const Emitter& by, RecordEvent event);
  void InsertAfter(const Emitter& at, RecordKind kind, size_t nth,
                   const Emitter& by, RecordEvent event);

  void RemoveIf(const std::function<bool(const EmittedEvent&)>& matches);
  std::vector<EmittedEvent>& all() { return all_; }

  // Numbers the events in order, and adds them to a record that has none.
  void AddTo(Record& record) const;

 private:
  size_t IndexOf(const Emitter& by, RecordKind kind, size_t nth) const;

  std::vector<EmittedEvent> all_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_ORACLE_RUN_EVENTS_H_
