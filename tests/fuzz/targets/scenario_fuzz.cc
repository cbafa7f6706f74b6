#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "engine/check.h"
#include "harness/scenario/scenario.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

constexpr std::string_view kFile = "fuzz.yaml";

void CheckDiagnostics(const LoadedFile& loaded, std::string_view text) {
  CHECK(loaded.cases.empty(), "cases beside an error");
  const std::string shown = RenderErrors(loaded, kFile, text);
  CHECK(shown.starts_with(kFile), shown);
  for (const Diagnostic& error : loaded.errors) {
    CheckErrorLine(error.message);
    if (!error.hint.empty()) CheckErrorLine(error.hint);
  }
}

// Checks that a case is ready to run: nothing in it is refused later.
void CheckCase(const Case& one) {
  CHECK(!one.name.empty(), "a case without a name");
  CHECK(Validate(one.plan).ok(), Validate(one.plan).ToString());
  CHECK(Validate(one.train.job).ok(), Validate(one.train.job).ToString());
  const auto plan = PlanFromJson(PlanToJson(one.plan));
  CHECK(plan.ok() && *plan == one.plan, PlanToJson(one.plan));
  const std::string options = TrainOptionsToJson(one.train);
  const auto again = TrainOptionsFromJson(options);
  CHECK(again.ok(), again.status().ToString());
  CheckSameText(options, TrainOptionsToJson(*again), "options");
}

}  // namespace

void FuzzScenario(std::string_view input) {
  const LoadedFile loaded = LoadScenarios(input, kFile);
  if (!loaded.errors.empty()) return CheckDiagnostics(loaded, input);
  std::set<std::string_view> names;
  for (const Case& one : loaded.cases) {
    CHECK(names.insert(one.name).second, one.name + ": twice");
    CheckCase(one);
  }
}

// Returns the scenarios of the repository, and one with keys that they do not
// use.
std::vector<std::string> ScenarioSeeds() {
  std::vector<std::string> seeds = {R"(schema: gauntlet/v2
name: everything
labels: [a, b]
matrix: {cluster.workers: [1, 2]}
preset: tiny
job: {epochs: 3, replicas: 2, steps_per_execution: 3}
cluster:
  workers: 2
  heartbeat: {every: 200ms, lost_after: 1s}
  restart: {policy: whole-job, max: 12, backoff: 50ms}
checkpoint: {every: {steps: 5}, keep: 2}
faults:
  - id: k
    at: {worker: 1, step: 7, point: ckpt.shard.write, offset: 50%}
    do: torn_write
    with: {blocks: 4, keep: [0, 3], then: crash}
expect: {outcome: recovers, restarts: {max: 2}}
)"};
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(GAUNTLET_SCENARIOS)) {
    if (file.path().extension() != ".yaml") continue;
    std::ifstream in(file.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in),
                       std::istreambuf_iterator<char>());
  }
  return seeds;
}

}  // namespace gauntlet
