// Speed of shrinking a plan: tries per second, and the number of tries.
#include <benchmark/benchmark.h>

#include "engine/check.h"
#include "harness/explore/diagnosis/shrink.h"
#include "tests/bench/bench_cases.h"

namespace gauntlet {
namespace {

// Returns a plan of three faults, of which only the power loss matters.
FaultPlan ThreeFaults() {
  return {.seed = 99,
          .faults = {{.id = "slow",
                      .site = {.worker = 1, .point = Point::kLoadBegin},
                      .kind = FaultKind::kSlow,
                      .with = {.latency = std::chrono::milliseconds(7)}},
                     {.id = "dark",
                      .site = {.worker = kChief, .step = 9},
                      .kind = FaultKind::kPowerLoss},
                     {.id = "error",
                      .site = {.worker = 1, .point = Point::kShardSync},
                      .kind = FaultKind::kErrno,
                      .after = "dark"}}};
}

void BM_Shrink(benchmark::State& state) {
  References references("", "bench");
  PlanRunner runner =
      PlanRunner::Make(IncarnationsCase("planted_bugs: lose-rng-key\n"),
                       references)
          .value();
  const FaultPlan plan = ThreeFaults();
  const PlanRun run = runner.Try(plan);
  int tries = 0;
  size_t faults = 0;
  for (auto _ : state) {
    const Shrunk shrunk = Shrink(runner, plan, run);
    CHECK(shrunk.finished, "ten seconds are enough");
    tries = shrunk.tries;
    faults = shrunk.plan.faults.size();
  }
  state.SetItemsProcessed(state.iterations() * tries);
  state.counters["tries"] = tries;
  state.counters["faults_left"] = static_cast<double>(faults);
}
BENCHMARK(BM_Shrink)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gauntlet
