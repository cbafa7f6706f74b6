#include "engine/cluster/resolver/tf_config.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {

void FuzzTfConfig(std::string_view input) {
  const Result<ClusterPlace> place = ParseTfConfig(input);
  if (!place.ok()) {
    CHECK(place.status().code() == Code::kInvalidArgument,
          place.status().ToString());
    return CheckErrorLine(place.status().message());
  }
  if (place->rank == kNoRank) {
    CHECK(place->task_type == "evaluator", "a worker without a rank");
    return;
  }
  CHECK(place->rank >= 0 && place->rank < place->size(), "a rank outside");
  if (place->addresses.empty()) return;
  const Result<ClusterPlace> again =
      ParseTfConfig(MakeTfConfig(place->addresses, place->rank));
  CHECK(again.ok(), again.status().ToString());
  CHECK(again->addresses == place->addresses && again->rank == place->rank,
        "another place");
}

std::vector<std::string> TfConfigSeeds() {
  return {MakeTfConfig({"host-a:1", "10.0.0.1:65535", "[::1]:8080"}, 1),
          R"({"cluster": {"chief": ["c:1"], "worker": ["w:1", "w:2"]},
              "task": {"type": "worker", "index": 1}, "environment": "cloud"})",
          R"({"cluster": {"chief": ["c:1"], "evaluator": ["e:1"]},
              "task": {"type": "chief", "index": 0}})",
          "{}"};
}

}  // namespace gauntlet
