// Claims of each launcher's variables about this process, one by one: the input
// of ResolveCluster.
#ifndef GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_CLAIMS_H_
#define GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_CLAIMS_H_

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

struct ClusterClaim {
  ClusterRule rule = ClusterRule::kNone;
  std::optional<SourcedNumber> rank;
  std::optional<SourcedNumber> size;
  std::vector<std::string> from;  // in the order in which they were read
  // Address of the chief; empty and 0 if the rule does not have it.
  std::string chief_host;
  int chief_port = 0;
  std::string why_no_host;            // for the error that there is none
  std::optional<ClusterPlace> place;  // the whole place (TF_CONFIG)
  std::optional<int> local_rank;
  // True iff the launcher says that all workers run here.
  bool all_on_this_host = false;
  // True if the launcher left a mark that it started this very process.
  bool started_this = false;
  // Slurm: this process is the batch script, which is no task of a step.
  bool batch_script = false;
};

// A variable that is set and not empty.
std::optional<std::string_view> FindVariable(const Environment& environment,
                                             std::string_view name);

// The variable as a whole number; the source is "NAME=value".
Result<std::optional<SourcedNumber>> FindNumber(const Environment& environment,
                                                std::string_view name, int low,
                                                int high);

// nullopt: none of the rule's variables is set. A claim may lack its rank or
// its size.
Result<std::optional<ClusterClaim>> ReadClaim(ClusterRule rule,
                                              const Environment& environment,
                                              const ClusterFlags& flags);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RESOLVER_CLUSTER_CLAIMS_H_
