#include <algorithm>
#include <optional>

#include "engine/cluster/address_text.h"
#include "engine/cluster/resolver/cluster_resolver.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

// Reads one NAME=VALUE per line.
Environment EnvironmentOf(std::string_view input) {
  Environment environment;
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    const size_t equals = line.find('=');
    if (equals == line.npos) continue;
    environment[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  }
  return environment;
}

void CheckPlace(const ResolvedCluster& cluster) {
  const ClusterPlace& place = cluster.place;
  CHECK(place.size() >= 1 && place.size() <= kMaxClusterSize + 1, "a size");
  CHECK(place.rank == kNoRank || (place.rank >= 0 && place.rank < place.size()),
        "a rank outside");
  if (place.addresses.empty()) return;
  const Status chief = CheckAddress(place.addresses.front());
  CHECK(chief.ok(), chief.ToString());
}

}  // namespace

void FuzzCluster(std::string_view input) {
  const Environment environment = EnvironmentOf(input);
  for (const auto& rule :
       {std::optional<ClusterRule>(), std::optional(ClusterRule::kTorchrun),
        std::optional(ClusterRule::kSlurm), std::optional(ClusterRule::kMpi),
        std::optional(ClusterRule::kKubernetes)}) {
    const Result<ResolvedCluster> cluster =
        ResolveCluster(environment, {.rule = rule});
    if (cluster.ok()) {
      CheckPlace(*cluster);
      continue;
    }
    CHECK(cluster.status().code() == Code::kInvalidArgument,
          cluster.status().ToString());
    CheckErrorLine(cluster.status().message());
  }
}

std::vector<std::string> ClusterSeeds() {
  return {
      "RANK=1\nWORLD_SIZE=2\nLOCAL_RANK=0\nMASTER_ADDR=10.0.0.1\n"
      "MASTER_PORT=29500\nTORCHELASTIC_RUN_ID=r\n"
      "TORCHELASTIC_RESTART_COUNT=1\nTORCHELASTIC_USE_AGENT_STORE=True",
      "SLURM_PROCID=1\nSLURM_NTASKS=2\nSLURM_JOB_ID=7\nSLURM_STEP_ID=0\n"
      "SLURM_STEP_NODELIST=n[01-03,7],m[1-2]r[0-9]\nENVIRONMENT=BATCH",
      "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=2\n"
      "OMPI_COMM_WORLD_LOCAL_SIZE=2\nPMIX_NAMESPACE=5\nPMIX_RANK=0",
      "JOB_COMPLETION_INDEX=1\nWORLD_SIZE=2\nHOSTNAME=j-1\n"
      "GAUNTLET_SERVICE=svc\n"
      "TF_CONFIG={\"cluster\":{\"worker\":[\"a:1\",\"b:1\"]},\"task\":{"
      "\"type\":\"worker\",\"index\":1}}"};
}

}  // namespace gauntlet
