#include "reports/bench/cluster_text.h"

#include "engine/text/counted.h"

namespace gauntlet {

std::string ClusterText(const CheckpointConfig& config) {
  std::string text = Counted(static_cast<uint64_t>(config.workers), "worker");
  if (config.shards == 0) return text;
  return text + ", " + Counted(static_cast<uint64_t>(config.shards), "shard");
}

}  // namespace gauntlet
