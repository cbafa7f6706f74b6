// Determines a process's place in a cluster from its environment variables,
// which a launcher has set.
//
// Rules, in this order; the first that applies wins:
//
//   flags       --rank, --cluster-size, --rendezvous
//   torchrun    RANK, WORLD_SIZE
//   tf-config   TF_CONFIG
//   slurm       SLURM_PROCID, SLURM_NTASKS (of the step, where there is one)
//   mpi         OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE; or PMIX_RANK
//   kubernetes  JOB_COMPLETION_INDEX
//
// **Number of workers.** If the rule does not state it (PMIX_RANK,
// JOB_COMPLETION_INDEX), it is --cluster-size, else WORLD_SIZE.
//
// **Address of the chief.** TF_CONFIG has all addresses. The other rules need
// only the chief's address: each worker sends its own to the chief, which sends
// all addresses to all workers. The chief's address is --rendezvous; else
// MASTER_ADDR and MASTER_PORT; else the rule supplies the host or port that is
// missing:
//   torchrun    supplies neither. If its agent serves the store
//               (TORCHELASTIC_USE_AGENT_STORE is True), the agent occupies
//               MASTER_PORT, and the chief's port is the next one
//   slurm       the first host of SLURM_STEP_NODELIST (else
//               SLURM_JOB_NODELIST), and the port 20000 + (16 × SLURM_JOB_ID +
//               SLURM_STEP_ID) modulo 10000
//   mpi         127.0.0.1 if all workers are on this host, else the first host
//               of Slurm's list (processes do not receive the hostfile), and a
//               port from 20000 to 29999 derived from PMIX_NAMESPACE
//   kubernetes  JOB-0.SERVICE, where JOB is HOSTNAME without its index and
//               SERVICE is --service or GAUNTLET_SERVICE; and the port 29500
//
// **Contradictions.** Rules that describe this process must agree on rank and
// number of workers. If one launcher runs inside another, the inner one started
// this process. The variables of the outer one describe another process: they
// are ignored, not compared. The following are ignored:
//   - Slurm, Open MPI and Kubernetes if torchrun's agent runs inside them
//     (TORCHELASTIC_RUN_ID is set)
//   - Slurm and Kubernetes if mpirun runs inside them (PMIX_NAMESPACE or
//     OMPI_UNIVERSE_SIZE in addition to OMPI_COMM_WORLD_RANK)
//   - Slurm in its batch script, which is not a task of a step
//     (ENVIRONMENT=BATCH without SLURM_STEP_ID)
//   - Slurm with a single task, and mpirun with a single process, if another
//     rule applies: they only allocate resources then
//
// An empty variable counts as unset.
#ifndef GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_RESOLVER_H_
#define GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_RESOLVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/resolver/tf_config.h"
#include "engine/status.h"

namespace gauntlet {

using Environment = std::map<std::string, std::string, std::less<>>;

enum class ClusterRule : uint8_t {
  kNone,  // this process is the only worker
  kFlags,
  kTorchrun,
  kTfConfig,
  kSlurm,
  kMpi,
  kKubernetes,
};

// "none", "flags", "torchrun", "tf-config", "slurm", "mpi", "kubernetes".
std::string_view ClusterRuleName(ClusterRule rule);

// Cluster options of the command line.
struct ClusterFlags {
  // If set, only this rule is used, and its result is not compared to other
  // rules; nullopt: all rules are used.
  std::optional<ClusterRule> rule;
  std::optional<int> rank;  // if set, the rule is kFlags
  std::optional<int> size;
  std::string rendezvous;  // "host:port" of the chief
  std::string service;     // Kubernetes: the headless service of the pods
  // Host to listen on; "": the host at which the other workers reach this one.
  std::string listen;
};

struct ResolvedCluster {
  ClusterRule rule = ClusterRule::kNone;
  // Sources of the result: "RANK=1", "--rendezvous=host:4711".
  std::vector<std::string> from;
  // Variables that were ignored, for one of the reasons under "Contradictions"
  // above.
  std::vector<std::string> ignored_variables;
  // Addresses by rank. Rank 0's is known; others that are not known yet are
  // empty.
  ClusterPlace place;
  std::optional<int> local_rank;  // among the workers of this host
  // 1 plus the number of restarts that torchrun or Slurm reports.
  int incarnation = 1;
  // True iff the launcher states that all workers run on this host.
  bool all_on_this_host = false;
  // Host to listen on; "": the host at which the other workers reach this one.
  std::string listen;
};

// kInvalidArgument, one line: a value is malformed or out of range; a rule
// lacks a variable (the line says how to supply it); or two variables
// contradict each other (the line names the flag that decides).
Result<ResolvedCluster> ResolveCluster(const Environment& environment,
                                       const ClusterFlags& flags);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_RESOLVER_H_
