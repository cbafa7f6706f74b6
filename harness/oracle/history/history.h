// History: all events of a record in one order.
//
// The events of a simulated run are numbered. In a real run all processes read
// one monotonic clock: events of different processes are merged by time, and
// the events of each process keep their order.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_HISTORY_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// Tolerance between time stamps. A task stamps an event before the event is
// queued for writing, so two events this close may be in either order.
inline constexpr int64_t kStampSlackNs = 1'000'000;

constexpr double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

// Returns a time and its limit in seconds, with three decimals. Uses more
// decimals if the two texts would be equal, or if a limit of less than a
// millisecond would not be exact.
std::pair<std::string, std::string> SecondsTexts(int64_t took_ns,
                                                 int64_t limit_ns);

// The process that emitted an event. Starts of the launcher are numbered from
// 1; this number is the launcher's incarnation.
struct Emitter {
  enum class Kind : uint8_t { kWorker, kLauncher, kMachine };
  Kind kind = Kind::kWorker;
  int worker = 0;
  int incarnation = 0;

  auto operator<=>(const Emitter&) const = default;
};

// Returns "worker 1, incarnation 2".
std::string NameOf(const Emitter& emitter);
// Returns the worker process that a launcher's or the machine's event is about.
// REQUIRES: event.about.
Emitter WorkerAbout(const RecordEvent& event);

// Returns "epoch end at step 12", or "after step 6" for the end of step 6.
std::string EventAtStep(const RecordEvent& event);
// Returns "epoch end at step 12 (worker 1, incarnation 2)".
std::string Where(const Emitter& emitter, const RecordEvent& event);

struct HistoryEvent {
  Emitter by;
  const RecordEvent* event = nullptr;  // points into the record
};

// Returns true iff `a` came before `b`: by their positions among all events of
// the run, or by time if one of them has no position.
bool ComesBefore(const RecordEvent& a, const RecordEvent& b);

// The record must outlive the result.
std::vector<HistoryEvent> HistoryOf(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_HISTORY_H_
