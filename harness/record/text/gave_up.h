// The event of a launcher that gave up, and its reason as text.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_GAVE_UP_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_GAVE_UP_H_

#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Returns the first event by which a launcher of the run gave up; null if none
// did.
const RecordEvent* FindGaveUp(const Record& record);

// Returns the reason: "restarts used up (cluster.restart.max is 2)",
// "cluster.restart.policy is none, so no restart is allowed", "too few workers"
// or "no progress (the limit is 10 restarts in a row that reach no new step;
// …)".
// REQUIRES: the kind of the event is kGaveUp.
std::string GaveUpReasonText(const RunSetup& setup, const RecordEvent& event);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_GAVE_UP_H_
