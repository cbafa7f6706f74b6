// Events of this process, kept in memory.
#ifndef GAUNTLET_HARNESS_CLI_HOOKS_EVENT_MEMORY_H_
#define GAUNTLET_HARNESS_CLI_HOOKS_EVENT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "engine/world/clock.h"
#include "engine/world/event_log.h"
#include "harness/record/event.h"

namespace gauntlet {

// Keeps the first event and the newest ones. Thread-safe.
class EventMemory final : public EventLog {
 public:
  EventMemory(const Clock& clock, size_t most_events)
      : clock_(clock), most_events_(most_events) {}

  void Emit(LogEvent event) override;

  struct Kept {
    std::vector<RecordEvent> events;
    uint64_t left_out = 0;  // number of events not kept
  };
  Kept Copy() const;

 private:
  const Clock& clock_;
  const size_t most_events_;
  mutable std::mutex mutex_;
  std::deque<RecordEvent> events_;
  uint64_t left_out_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HOOKS_EVENT_MEMORY_H_
