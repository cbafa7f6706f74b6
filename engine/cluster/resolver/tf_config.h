// A worker's place in the cluster according to TF_CONFIG.
//
// TF_CONFIG is one JSON object, {"cluster": {job: ["host:port", …], …}, "task":
// {"type": job, "index": n}}. `cluster` is the same for all tasks, and `task`
// identifies this one. (See TensorFlow, "Multi-worker training with Keras".)
// Jobs supported here are "chief" (at most one task), "worker" and "evaluator".
#ifndef GAUNTLET_ENGINE_CLUSTER_RESOLVER_TF_CONFIG_H_
#define GAUNTLET_ENGINE_CLUSTER_RESOLVER_TF_CONFIG_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// Maximum number of workers of one cluster.
inline constexpr int kMaxClusterSize = 4096;
// Rank of an evaluator, which does not take part in training.
inline constexpr int kNoRank = -1;

struct ClusterPlace {
  std::vector<std::string> addresses;  // by rank; empty: this is the only
                                       // worker
  int rank = 0;                        // 0 is the chief
  std::string task_type = "worker";    // "chief", "worker" or "evaluator"
  int task_index = 0;                  // within its task type

  int size() const {
    return addresses.empty() ? 1 : static_cast<int>(addresses.size());
  }
};

// Rank 0 is the task of job "chief" if there is one, and the workers follow in
// order; without a chief, rank 0 is worker 0. Empty text or {} means that this
// process is the only worker. A third key "environment", which Kubeflow adds,
// is ignored.
//
// kInvalidArgument, one line: malformed text, an unknown key or job, an index
// out of range, an address that is not "host:port" or occurs twice, a cluster
// without workers, or a job ps, which this program does not support.
Result<ClusterPlace> ParseTfConfig(std::string_view json);

// Returns the TF_CONFIG that the launcher passes to worker `rank`. REQUIRES:
// rank is an index into `addresses`.
std::string MakeTfConfig(const std::vector<std::string>& addresses, int rank);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RESOLVER_TF_CONFIG_H_
