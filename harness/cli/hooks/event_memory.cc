#include "harness/cli/hooks/event_memory.h"

#include <utility>

#include "harness/run/executor/event_conversion.h"

namespace gauntlet {

void EventMemory::Emit(LogEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(ToRecordEvent(std::move(event), clock_.Now()));
  if (events_.size() <= most_events_) return;
  events_.erase(events_.begin() + 1);
  ++left_out_;
}

EventMemory::Kept EventMemory::Copy() const {
  const std::lock_guard lock(mutex_);
  return {.events = {events_.begin(), events_.end()}, .left_out = left_out_};
}

}  // namespace gauntlet
