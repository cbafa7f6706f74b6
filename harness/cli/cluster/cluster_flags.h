// The options of `gauntlet train` about its place in a cluster, and about who
// may join.
#ifndef GAUNTLET_HARNESS_CLI_CLUSTER_CLUSTER_FLAGS_H_
#define GAUNTLET_HARNESS_CLI_CLUSTER_CLUSTER_FLAGS_H_

#include "engine/status.h"
#include "harness/cli/flags/commands.h"
#include "harness/cli/flags/flags.h"

namespace gauntlet {

void AddClusterFlags(Flags& flags, TrainCommand& command);
// The options that say who may join.
void AddSecurityFlags(Flags& flags, TrainCommand& command);

// Puts them into the options. kInvalidArgument: they contradict each other.
Status TakeCluster(TrainCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CLUSTER_CLUSTER_FLAGS_H_
