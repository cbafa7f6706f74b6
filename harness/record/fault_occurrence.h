// The faults of a record: the planned fault of an event, when it fired, and how
// often.
#ifndef GAUNTLET_HARNESS_RECORD_FAULT_OCCURRENCE_H_
#define GAUNTLET_HARNESS_RECORD_FAULT_OCCURRENCE_H_

#include <string>
#include <string_view>

#include "harness/record/record.h"

namespace gauntlet {

// Returns the planned fault of that id, or null.
const RecordFault* FindFault(const Record& record, std::string_view id);

// Returns "in the save of step 4 (training was at step 5)" for a fault that
// fired at a point of a save, while this save was in progress; "" for any other
// fault. A fault with a planned save has its number too: "in the save of step 4
// (save 2; training was at step 5)". Leaves out the part about the training if
// both steps are equal.
//
// REQUIRES: `event` is a kFaultFired event of the record.
std::string SaveOfFaultText(const Record& record, const RecordEvent& event);

// Returns " (fired 14 times)". If the fault fired in several saves, adds them:
// " (fired 3 times, in the saves of steps 4, 8 and 12)". Returns "" if the
// fault fired only once in the process.
std::string TimesFiredText(const Record& record,
                           const IncarnationEvents& incarnation,
                           std::string_view fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_FAULT_OCCURRENCE_H_
