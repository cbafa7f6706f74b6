// A case, as the record of its run tells the oracle of it.
#ifndef GAUNTLET_HARNESS_SCENARIO_RUN_SETUP_H_
#define GAUNTLET_HARNESS_SCENARIO_RUN_SETUP_H_

#include <string>

#include "harness/record/record.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Sets the deadlines that the engine states
// (engine/train/launcher/deadlines.h); that of the first restart only if
// setup.rejoins is false.
void SetDeadlines(const Case& one, RunSetup& setup);

// The head of the record of a run of the case: everything that is known before
// it runs. Who runs it adds the rest, and the plan's text where the record is
// to be written: nothing is judged by that.
Record RecordHead(const Case& one);

// "crash worker 1 at ckpt.rename, hit 2": a fault, for people.
std::string FaultSummary(const Fault& fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_RUN_SETUP_H_
