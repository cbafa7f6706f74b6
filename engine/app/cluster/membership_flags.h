// The options on the number of workers and on the reaction to the loss of a
// worker.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_MEMBERSHIP_FLAGS_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_MEMBERSHIP_FLAGS_H_

#include "engine/cli/flags/flags.h"
#include "engine/status.h"
#include "engine/train/launcher_options.h"

namespace gauntlet {

// Adds --min-workers, --restart and --start-timeout.
void AddMembershipFlags(Flags& flags, LauncherOptions& launcher);

// kInvalidArgument: the numbers of workers contradict each other.
Status CheckMembership(const LauncherOptions& launcher);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_MEMBERSHIP_FLAGS_H_
