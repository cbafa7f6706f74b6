// Power losses of a simulated machine.
#ifndef GAUNTLET_HARNESS_RECORD_POWER_CUT_H_
#define GAUNTLET_HARNESS_RECORD_POWER_CUT_H_

#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Returns "all hosts" or "the host of worker 2": the hosts that lost power.
std::string HostsText(const RecordEvent& cut);

// Returns "all hosts lose power, which ends the launcher, workers 0-3"; without
// the processes if the power loss ended none.
std::string PowerCutText(const Record& record, const RecordEvent& cut);

// Names the processes that the power loss ended: "the launcher, workers 0-3";
// empty if it ended none.
std::string ProcessesEndedBy(const Record& record, const RecordEvent& cut);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_POWER_CUT_H_
