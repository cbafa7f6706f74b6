// All that a record says, in one order.
//
// A simulated run numbers its events; that is the order. In a real one each
// process stamps its own, by one clock of the machine: they are merged by time,
// each process's in its own order.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// Each process stamps its events itself, and its tasks do so before they queue
// up to be written: two events that are so close may be in either order.
inline constexpr int64_t kStampSlackNs = 1'000'000;

constexpr double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

// Who said it. Of launchers `incarnation` counts the starts, from 1.
struct Emitter {
  enum class Kind : uint8_t { kWorker, kLauncher, kMachine };
  Kind kind = Kind::kWorker;
  int worker = 0;
  int incarnation = 0;

  auto operator<=>(const Emitter&) const = default;
};

// "worker 1, incarnation 2".
std::string NameOf(const Emitter& emitter);

// "step at step 12 (worker 1, incarnation 2)".
std::string Where(const Emitter& emitter, const RecordEvent& event);

struct HistoryEvent {
  Emitter by;
  const RecordEvent* event = nullptr;  // lies in the record
};

// The record outlives it.
std::vector<HistoryEvent> HistoryOf(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_H_
