// The cluster of a configuration, in words.
#ifndef GAUNTLET_REPORTS_BENCH_CLUSTER_TEXT_H_
#define GAUNTLET_REPORTS_BENCH_CLUSTER_TEXT_H_

#include <string>

#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// "2 workers", "2 workers, 1 shard".
std::string ClusterText(const CheckpointConfig& config);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_BENCH_CLUSTER_TEXT_H_
