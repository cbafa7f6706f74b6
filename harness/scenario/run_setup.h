// Describes a case for the judge, in the record of its run.
#ifndef GAUNTLET_HARNESS_SCENARIO_RUN_SETUP_H_
#define GAUNTLET_HARNESS_SCENARIO_RUN_SETUP_H_

#include <string>
#include <vector>

#include "harness/record/record.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Sets the deadlines within which the engine must act
// (engine/train/launcher/deadlines.h). Sets first_restart_pause_ns only if
// setup.rejoins is false.
void SetDeadlines(const Case& one, RunSetup& setup);

// Returns a record with all that is known before the run. The caller adds the
// rest. If the record will be written to a file, the caller also adds the text
// of the plan; no verdict depends on that text.
Record RecordHead(const Case& one);

// Returns the names of the bugs, in the order of AllPlantedBugs.
std::vector<std::string> NamesOfBugs(const std::vector<PlantedBug>& bugs);

// Returns a fault as text for people: "crash worker 1 at ckpt.rename, step 4",
// "errno all at ckpt.begin, incarnation any, error ENOSPC, repeat always".
std::string FaultSummary(const Fault& fault);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_RUN_SETUP_H_
