// The fault plan of `gauntlet train --plan`, as the launcher and its workers
// read it.
#ifndef GAUNTLET_HARNESS_CLI_HOOKS_PLAN_FILE_H_
#define GAUNTLET_HARNESS_CLI_HOOKS_PLAN_FILE_H_

#include <string>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/storage.h"

namespace gauntlet {

// Reads the plan. `options`: the sources of preemption notices that the workers
// poll. kInvalidArgument: the plan has a notice from another source, or a fault
// that real processes cannot have. Errors name the file.
Result<FaultPlan> ReadPlanFile(Storage& storage, const std::string& file,
                               const PreemptionOptions& options);

// Returns the ids of the plan's faults that the state directory does not record
// as fired.
std::vector<std::string> NeverFired(const FaultPlan& plan,
                                    const std::string& state_directory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HOOKS_PLAN_FILE_H_
