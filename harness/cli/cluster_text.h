// What the cluster resolver made of the environment, for people and programs.
#ifndef GAUNTLET_HARNESS_CLI_CLUSTER_TEXT_H_
#define GAUNTLET_HARNESS_CLI_CLUSTER_TEXT_H_

#include <string>

#include "engine/cluster/cluster_resolver.h"

namespace gauntlet {

// What told it, on one line: "RANK=1, WORLD_SIZE=2".
std::string SourcesText(const ResolvedCluster& cluster);

// One fact a line:
//   rule      torchrun
//   from      RANK=1, WORLD_SIZE=2, MASTER_ADDR=10.0.0.1, MASTER_PORT=29500
//   task      worker 1, life 1
//   workers   2
//   chief     rank 0 at 10.0.0.1:29500
//   passed    SLURM_PROCID=0, SLURM_NTASKS=1 (of a launcher around this one)
// Lines without content are left out.
std::string ClusterToText(const ResolvedCluster& cluster);

// One object in one line with the same facts, and the addresses by rank (null:
// not known before the workers meet).
std::string ClusterToJson(const ResolvedCluster& cluster);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CLUSTER_TEXT_H_
