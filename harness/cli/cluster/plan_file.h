// The fault plan of `gauntlet train --plan`, as the launcher and its workers
// read it.
#ifndef GAUNTLET_HARNESS_CLI_CLUSTER_PLAN_FILE_H_
#define GAUNTLET_HARNESS_CLI_CLUSTER_PLAN_FILE_H_

#include <string>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/storage.h"

namespace gauntlet {

// For workers that look for notices as `told`. kInvalidArgument for a notice
// that none of them looks for, and for what real processes cannot do; errors
// name the file.
Result<FaultPlan> ReadPlanFile(Storage& storage, const std::string& file,
                               const PreemptionOptions& told);

// The ids of the plan's faults of which nothing is noted in this directory.
std::vector<std::string> NeverFired(const FaultPlan& plan,
                                    const std::string& state_directory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CLUSTER_PLAN_FILE_H_
