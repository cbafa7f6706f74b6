// Converts the engine's events to those of a record, without an event file.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_EVENT_CONVERSION_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_EVENT_CONVERSION_H_

#include "engine/world/clock.h"
#include "engine/world/event_log.h"
#include "harness/record/event.h"

namespace gauntlet {

RecordEvent ToRecordEvent(LogEvent&& event, Time time);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_EVENT_CONVERSION_H_
