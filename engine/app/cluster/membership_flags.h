// The options on the minimum number of workers, on a restart after the loss of
// a worker, and on the time that a start may take.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_MEMBERSHIP_FLAGS_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_MEMBERSHIP_FLAGS_H_

#include "engine/cli/flags/flags.h"
#include "engine/status.h"
#include "engine/train/launcher_options.h"

namespace gauntlet {

// Adds --min-workers, --restart and --start-timeout.
void AddMembershipFlags(Flags& flags, LauncherOptions& launcher);

// Returns kInvalidArgument if --min-workers exceeds the number of workers.
Status CheckMembership(const LauncherOptions& launcher);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_MEMBERSHIP_FLAGS_H_
