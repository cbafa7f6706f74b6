// Reads the environment variables of each launcher. A candidate is the place in
// a cluster that the variables of one launcher state for this process.
// ResolveCluster chooses among the candidates.
#ifndef GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_CANDIDATES_H_
#define GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_CANDIDATES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/resolver/cluster_resolver.h"
#include "engine/cluster/resolver/tf_config.h"
#include "engine/status.h"

namespace gauntlet {

// A number and its source: "RANK=1".
struct SourcedNumber {
  int value = 0;
  std::string source;
};

struct ClusterCandidate {
  ClusterRule rule = ClusterRule::kNone;
  std::optional<SourcedNumber> rank;
  std::optional<SourcedNumber> size;
  std::vector<std::string> from;  // sources, in the order read
  // Address of the chief; empty and 0 if the rule does not provide it.
  std::string chief_host;
  int chief_port = 0;
  std::string missing_host_reason;    // if chief_host is empty: a part of the
                                      // error message
  std::optional<ClusterPlace> place;  // set only by TF_CONFIG, which states the
                                      // complete place
  std::optional<int> local_rank;
  // True iff the launcher states that all workers run on this host.
  bool all_on_this_host = false;
  // True iff a variable shows that this launcher started this very process.
  bool started_this_process = false;
  // Slurm: true iff this process is the batch script, which is not a task of a
  // step.
  bool is_batch_script = false;
};

// Returns the variable's value; nullopt if it is not set or empty.
std::optional<std::string_view> FindVariable(const Environment& environment,
                                             std::string_view name);

// Returns the variable's value as a whole number, with the source "NAME=value".
Result<std::optional<SourcedNumber>> FindNumber(const Environment& environment,
                                                std::string_view name, int low,
                                                int high);

// Returns the candidate of the rule's variables; nullopt if none of them is
// set. A candidate may lack its rank or its size.
Result<std::optional<ClusterCandidate>> ReadCandidate(
    ClusterRule rule, const Environment& environment,
    const ClusterFlags& flags);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_CANDIDATES_H_
