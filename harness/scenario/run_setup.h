// A case, as the record of its run tells the oracle of it.
#ifndef GAUNTLET_HARNESS_SCENARIO_RUN_SETUP_H_
#define GAUNTLET_HARNESS_SCENARIO_RUN_SETUP_H_

#include <string>

#include "harness/record/record.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// The bounds of detection, the silence and the hang limit. A hang shows when
// the limit of what is under way is over; a silent worker sooner.
void SetDetectionBounds(const Case& one, RunSetup& setup);

// The head of the record of a run of the case: everything that is known before
// it runs. Who runs it adds the rest, and the plan's text where the record is
// to be written: nothing is judged by that.
Record RecordHead(const Case& one);

// "crash worker 1 at ckpt.rename, hit 2": a fault, for people.
std::string FaultSummary(const Fault& fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_RUN_SETUP_H_
