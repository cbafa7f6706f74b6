// A worker's place in the cluster, as TF_CONFIG tells it.
//
// TF_CONFIG is one JSON object, {"cluster": {job: ["host:port", …], …}, "task":
// {"type": job, "index": n}}: `cluster` is the same for all tasks, `task` names
// one of them (TensorFlow, "Multi-worker training with Keras"). Jobs known here
// are "chief" (at most one task), "worker" and "evaluator".
#ifndef GAUNTLET_ENGINE_CLUSTER_RESOLVER_TF_CONFIG_H_
#define GAUNTLET_ENGINE_CLUSTER_RESOLVER_TF_CONFIG_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// Workers of one cluster, at most.
inline constexpr int kMaxClusterSize = 4096;
// The rank of an evaluator, which takes no part in training.
inline constexpr int kNoRank = -1;

struct ClusterPlace {
  std::vector<std::string> addresses;  // by rank; empty: a worker by itself
  int rank = 0;                        // 0 is the chief
  std::string task_type = "worker";    // "chief", "worker" or "evaluator"
  int task_index = 0;                  // within its task type

  int size() const {
    return addresses.empty() ? 1 : static_cast<int>(addresses.size());
  }
};

// Rank 0 is the task of job "chief" if there is one, then the workers in order;
// without a chief, worker 0. Empty text or {} means a worker by itself. A key
// "environment" beside the two, which Kubeflow adds, is ignored.
//
// kInvalidArgument: malformed text, an unknown key or job, an index out of
// range, an address that is not "host:port" or stands there twice; a cluster
// without workers; a job ps, which this program has not. One line each.
Result<ClusterPlace> ParseTfConfig(std::string_view json);

// The inverse: what the launcher tells worker `rank`. REQUIRES: rank is an
// index into `addresses`.
std::string MakeTfConfig(const std::vector<std::string>& addresses, int rank);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RESOLVER_TF_CONFIG_H_
