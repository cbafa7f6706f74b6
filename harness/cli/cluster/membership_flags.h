// The options that say who takes part in a job, and what a loss leads to.
#ifndef GAUNTLET_HARNESS_CLI_CLUSTER_MEMBERSHIP_FLAGS_H_
#define GAUNTLET_HARNESS_CLI_CLUSTER_MEMBERSHIP_FLAGS_H_

#include <vector>

#include "engine/status.h"
#include "engine/train/launcher/launcher.h"
#include "harness/cli/flags/flags.h"

namespace gauntlet {

// --min-workers, --restart and --start-timeout.
void AddMembershipFlags(Flags& flags, LauncherOptions& launcher);

// "4,2,1".
FlagReader ReadWorkersByLife(std::vector<int>& target);

// kInvalidArgument: the numbers contradict each other.
Status CheckMembership(const LauncherOptions& launcher);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CLUSTER_MEMBERSHIP_FLAGS_H_
