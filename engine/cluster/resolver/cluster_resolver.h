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
// **The number of workers**, where a rule has none (PMIX_RANK,
// JOB_COMPLETION_INDEX): --cluster-size, else WORLD_SIZE.
//
// **Address of the chief.** TF_CONFIG has all addresses. The other rules need
// only the chief's: the chief receives the others' addresses and sends them to
// all. The chief's address is --rendezvous; else MASTER_ADDR and MASTER_PORT;
// else each rule supplies the host or port that is missing:
//   torchrun    neither; with its agent's store (TORCHELASTIC_USE_AGENT_STORE
//               is True), which occupies MASTER_PORT, the port is the next one
//   slurm       the first host of SLURM_STEP_NODELIST (else
//               SLURM_JOB_NODELIST), and the port 20000 + (16 × SLURM_JOB_ID +
//               SLURM_STEP_ID) modulo 10000
//   mpi         127.0.0.1 if all workers are on this host, else the first host
//               of Slurm's list (processes are not given the hostfile), and a
//               port from 20000 to 29999 derived from PMIX_NAMESPACE
//   kubernetes  JOB-0.SERVICE, where JOB is HOSTNAME without its index and
//               SERVICE is --service or GAUNTLET_SERVICE; and the port 29500
//
// **Contradictions.** Rules that describe this process must agree on rank and
// number of workers. If one launcher runs inside another, the inner one started
// this process, and the outer one's variables describe something else: they are
// ignored, not compared. That applies to Slurm, Open MPI and Kubernetes around
// torchrun's agent (TORCHELASTIC_RUN_ID is set); to Slurm and Kubernetes around
// mpirun (PMIX_NAMESPACE or OMPI_UNIVERSE_SIZE in addition to
// OMPI_COMM_WORLD_RANK); to Slurm's batch script (ENVIRONMENT=BATCH without
// SLURM_STEP_ID), which is not a task of a step; and to a single task of Slurm
// or a single process of mpirun, which is only an allocation if another rule
// applies.
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
  kNone,  // a worker alone
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
  // If set, only this rule is used, without comparison to others; nullopt: all
  // rules.
  std::optional<ClusterRule> rule;
  std::optional<int> rank;  // if set, the rule is kFlags
  std::optional<int> size;
  std::string rendezvous;  // "host:port" of the chief
  std::string service;     // Kubernetes: the headless service of the pods
  // Host to listen on; "": this worker's address in the cluster.
  std::string listen;
};

struct ResolvedCluster {
  ClusterRule rule = ClusterRule::kNone;
  // Sources of the result: "RANK=1", "--rendezvous=host:4711".
  std::vector<std::string> from;
  // Ignored variables: those of launchers around the one that started this
  // process.
  std::vector<std::string> passed_over;
  // Addresses by rank. Those not yet known are empty; rank 0's is known.
  ClusterPlace place;
  std::optional<int> local_rank;  // among the workers of this host
  // 1 plus the number of restarts that torchrun or Slurm reports.
  int incarnation = 1;
  // True iff the launcher states that all workers run on this host.
  bool all_on_this_host = false;
  // Host to listen on. "": the address of this worker that the others use.
  std::string listen;
};

// kInvalidArgument, one line: a value is malformed or out of range; a rule
// lacks a variable (the line says how to supply it); or two variables
// contradict each other (the line names the flag that decides).
Result<ResolvedCluster> ResolveCluster(const Environment& environment,
                                       const ClusterFlags& flags);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_RESOLVER_H_
