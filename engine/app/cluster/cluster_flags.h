// The options of `gauntlet train` for the worker's place in a cluster and for
// security.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_FLAGS_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_FLAGS_H_

#include "engine/app/commands.h"
#include "engine/cli/flags/flags.h"
#include "engine/status.h"

namespace gauntlet {

void AddClusterFlags(Flags& flags, TrainCommand& command);
// Adds the options that state who may join the job.
void AddSecurityFlags(Flags& flags, TrainCommand& command);

// Copies the parsed flags into the command's options. kInvalidArgument: the
// flags contradict each other.
Status TakeCluster(TrainCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_FLAGS_H_
