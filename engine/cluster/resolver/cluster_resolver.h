// A process's place in a cluster, from what its launcher put into the
// environment.
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
// **Where the chief is.** TF_CONFIG has all addresses. The other rules need the
// chief's alone; the chief hears the others' and tells them. It is
// --rendezvous; else MASTER_ADDR and MASTER_PORT; else, each for what is
// missing of the two,
//   torchrun    nothing; beside its agent's store (TORCHELASTIC_USE_AGENT_STORE
//               is True), which has MASTER_PORT, the port after it
//   slurm       the first host of SLURM_STEP_NODELIST (else
//               SLURM_JOB_NODELIST), and the port 20000 + (16 × SLURM_JOB_ID +
//               SLURM_STEP_ID) modulo 10000
//   mpi         127.0.0.1 if all workers are on this host, else the first host
//               of Slurm's list, and a port from 20000 to 29999 by
//               PMIX_NAMESPACE; a hostfile is not told to processes
//   kubernetes  JOB-0.SERVICE, JOB being HOSTNAME without its index, SERVICE
//               --service or GAUNTLET_SERVICE; and the port 29500
//
// **Contradictions.** Rules that speak of this process have to agree in rank
// and number of workers. Where one launcher runs in another, the inner one
// started this process and the outer one's variables are of something else:
// they are passed over, not compared. That is so for Slurm, Open MPI and
// Kubernetes around torchrun's agent (TORCHELASTIC_RUN_ID is set); for Slurm
// and Kubernetes around mpirun (PMIX_NAMESPACE or OMPI_UNIVERSE_SIZE beside
// OMPI_COMM_WORLD_RANK); for Slurm's batch script (ENVIRONMENT=BATCH without
// SLURM_STEP_ID), which is no task of a step; and for one task of Slurm or one
// process of mpirun, which are mere allocations if another rule applies.
//
// An empty variable counts as one that is not set.
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
  kNone,  // a worker by itself
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
  // Only this rule is used, and not compared with others; nullopt: all are
  // used.
  std::optional<ClusterRule> rule;
  std::optional<int> rank;  // the rule is kFlags
  std::optional<int> size;
  std::string rendezvous;  // "host:port" of the chief
  std::string service;     // Kubernetes: the headless service of the pods
  std::string listen;      // host to listen on; "": the one that was named
};

struct ResolvedCluster {
  ClusterRule rule = ClusterRule::kNone;
  // Sources of the result: "RANK=1", "--rendezvous=host:4711".
  std::vector<std::string> from;
  // Ignored variables: those of launchers around this one.
  std::vector<std::string> passed_over;
  // Addresses that are not known yet are empty; rank 0's is known.
  ClusterPlace place;
  std::optional<int> local_rank;  // among the workers of this host
  // 1 plus the restarts that torchrun and Slurm count.
  int life = 1;
  // True iff the launcher says that all workers run here.
  bool all_on_this_host = false;
  // Host to listen on. "": the address of this worker that the others have.
  std::string listen;
};

// kInvalidArgument, one line: a value that is malformed or out of range; a rule
// that lacks a variable, and how to say it; two variables that contradict each
// other, and which flag decides.
Result<ResolvedCluster> ResolveCluster(const Environment& environment,
                                       const ClusterFlags& flags);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_RESOLVER_H_
