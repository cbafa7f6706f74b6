// Describes the cluster of a configuration.
#ifndef GAUNTLET_REPORTS_BENCH_CLUSTER_TEXT_H_
#define GAUNTLET_REPORTS_BENCH_CLUSTER_TEXT_H_

#include <string>

#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// Returns "2 workers" or "2 workers, 1 shard".
std::string ClusterText(const CheckpointConfig& config);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_BENCH_CLUSTER_TEXT_H_
