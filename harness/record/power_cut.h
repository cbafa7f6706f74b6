// Power losses of a simulated machine.
#ifndef GAUNTLET_HARNESS_RECORD_POWER_CUT_H_
#define GAUNTLET_HARNESS_RECORD_POWER_CUT_H_

#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Names the processes that the power loss ended: "the launcher, workers 0-3";
// empty if it ended none.
std::string ProcessesEndedBy(const Record& record, const RecordEvent& cut);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_POWER_CUT_H_
