// What each launcher's variables say of this process, one by one: the material
// that ResolveCluster judges.
#ifndef GAUNTLET_ENGINE_CLUSTER_CLUSTER_CLAIMS_H_
#define GAUNTLET_ENGINE_CLUSTER_CLUSTER_CLAIMS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/cluster_resolver.h"
#include "engine/cluster/tf_config.h"
#include "engine/status.h"

namespace gauntlet {

// A number and the words in which it was told: "RANK=1".
struct Told {
  int value = 0;
  std::string words;
};

struct ClusterClaim {
  ClusterRule rule = ClusterRule::kNone;
  std::optional<Told> rank;
  std::optional<Told> size;
  std::vector<std::string> from;  // in the order in which they were read
  // Of the chief, as far as the rule knows; empty, 0: it does not.
  std::string chief_host;
  int chief_port = 0;
  std::string why_no_host;  // what would have told it, or why it did not
  std::optional<ClusterPlace> place;  // all that there is to know (TF_CONFIG)
  std::optional<int> local_rank;
  // True iff the launcher says that all workers run here.
  bool all_on_this_host = false;
  // Its launcher left a mark that it started this very process.
  bool started_this = false;
  // Of Slurm: the batch script, which is no task of a step.
  bool batch_script = false;
};

// A variable that is set and not empty.
std::optional<std::string_view> FindVariable(const Environment& environment,
                                             std::string_view name);

// As a whole number; the words are "NAME=value".
Result<std::optional<Told>> FindNumber(const Environment& environment,
                                       std::string_view name, int low,
                                       int high);

// nullopt: none of the rule's variables is set. A claim may lack its rank or
// its size.
Result<std::optional<ClusterClaim>> ReadClaim(ClusterRule rule,
                                              const Environment& environment,
                                              const ClusterFlags& flags);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_CLUSTER_CLAIMS_H_
