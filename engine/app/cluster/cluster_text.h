// A resolved cluster as text for people and as JSON for programs.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_TEXT_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_TEXT_H_

#include <string>

#include "engine/cluster/resolver/cluster_resolver.h"

namespace gauntlet {

// Returns the variables and flags that the cluster was read from, on one line:
// "RANK=1, WORLD_SIZE=2".
std::string SourcesText(const ResolvedCluster& cluster);

// Token source and TLS for --explain-cluster; never contains the token.
struct TrustText {
  std::string token;  // source of the token
  std::string tls;
};

// Returns one fact per line:
//   rule      torchrun
//   from      RANK=1, WORLD_SIZE=2, MASTER_ADDR=10.0.0.1, MASTER_PORT=29500
//   task      worker 1, incarnation 1
//   workers   2
//   chief     rank 0 at 10.0.0.1:29500
//   token     ckpt/job-token (rank 0 makes it if it is missing)
//   tls       none
//   passed    SLURM_PROCID=0, SLURM_NTASKS=1 (of a launcher around this one)
// `passed` lists variables that were ignored
// (ResolvedCluster::ignored_variables). A fact that is empty has no line.
std::string ClusterToText(const ResolvedCluster& cluster,
                          const TrustText& trust);

// Returns the same facts as a JSON object on one line, with the addresses by
// rank (null: not known until the workers connect).
std::string ClusterToJson(const ResolvedCluster& cluster,
                          const TrustText& trust);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_TEXT_H_
