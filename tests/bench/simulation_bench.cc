// Simulated runs per second on one core: whole runs of `tiny` (4 workers, 24
// steps, 4 saves), each with its state digest at every step and the judge's
// verdict.
#include <benchmark/benchmark.h>

#include "engine/check.h"
#include "harness/explore/plan/random_plan.h"
#include "harness/explore/trial/plan_runner.h"
#include "tests/bench/bench_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kGrace = std::chrono::seconds(20);

// Makes a runner for a job that uses up the grace period of a preemption
// notice.
PlanRunner MakeRunner() {
  static References references("", "bench");
  Case one = IncarnationsCase();
  one.train.preemption.grace = kGrace;
  return PlanRunner::Make(one, references).value();
}

std::vector<Fault> NoFault() { return {}; }

// Returns a crash in a step, a crash in the recovery, and a damaged shard.
std::vector<Fault> ThreeFaults() {
  return {
      {.id = "crash",
       .site = {.worker = 1, .step = 9, .point = Point::kStepBegin}},
      {.id = "again",
       .site = {.worker = kChief, .incarnation = 2, .point = Point::kLoadRead},
       .after = "crash"},
      {.id = "tear",
       .site = {.worker = 2, .incarnation = 3, .point = Point::kShardWrite},
       .kind = FaultKind::kTornWrite,
       .after = "again"}};
}

std::vector<Fault> Hang() {
  return {{.id = "hang",
           .site = {.worker = 1, .step = 9, .point = Point::kStepBegin},
           .kind = FaultKind::kHang}};
}

// Makes each step take a second, so that training continues for most of the
// grace period: if all workers left immediately, the simulation would have no
// time to skip.
std::vector<Fault> Preemption() {
  return {{.id = "heavy",
           .site = {.worker = 0,
                    .incarnation = kAnyIncarnation,
                    .point = Point::kStepBegin},
           .kind = FaultKind::kSlow,
           .with = {.times = FaultTimes::kAlways,
                    .latency = std::chrono::seconds(1)}},
          {.id = "preempt",
           .site = {.worker = 1, .step = 3, .point = Point::kStepBegin},
           .kind = FaultKind::kPreempt,
           .with = {.grace = kGrace}}};
}

void BM_Runs(benchmark::State& state, std::vector<Fault> (*faults)()) {
  PlanRunner runner = MakeRunner();
  FaultPlan plan = {.faults = faults()};
  double virtual_seconds = 0;
  for (auto _ : state) {
    ++plan.seed;
    const PlanRun run = runner.Try(plan);
    CHECK(run.findings.empty() && run.record.faults.size() == faults().size(),
          fmt::format("seed {}: a run that is timed must pass", plan.seed));
    virtual_seconds += run.record.virtual_seconds;
  }
  state.counters["runs"] = benchmark::Counter(
      static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["virtual_to_real"] =
      benchmark::Counter(virtual_seconds, benchmark::Counter::kIsRate);
}

// Returns plans as `explore` draws them, each with three faults that fired.
// Most restart the cluster less often than kThreeRestarts.
std::vector<FaultPlan> RandomPlans(PlanRunner& runner, const Case& setup) {
  constexpr size_t kPlans = 100;
  PlanSpace space = SpaceOf(setup);
  space.max_faults = 3;
  std::vector<FaultPlan> plans;
  for (uint64_t number = 0; plans.size() < kPlans; ++number) {
    FaultPlan plan = RandomPlan(space, /*seed=*/1, number);
    if (plan.faults.size() < 3) continue;
    const PlanRun run = runner.Try(plan);
    CHECK(run.findings.empty(), fmt::format("case {} must pass", number));
    if (run.record.faults.size() == 3) plans.push_back(std::move(plan));
  }
  return plans;
}

void BM_RandomRuns(benchmark::State& state) {
  References references("", "bench");
  const Case setup = SetupsOf(IncarnationsCase()).front();
  PlanRunner runner = PlanRunner::Make(setup, references).value();
  static const std::vector<FaultPlan> plans = RandomPlans(runner, setup);
  size_t next = 0;
  uint64_t restarts = 0;
  for (auto _ : state) {
    const PlanRun run = runner.Try(plans[next++ % plans.size()]);
    CHECK(run.findings.empty(), "a run that is timed must pass");
    restarts += run.verdict.facts.restarts;
  }
  const auto runs = static_cast<double>(state.iterations());
  state.counters["runs"] =
      benchmark::Counter(runs, benchmark::Counter::kIsRate);
  state.counters["restarts_a_run"] = static_cast<double>(restarts) / runs;
}

BENCHMARK_CAPTURE(BM_Runs, undisturbed, &NoFault);
BENCHMARK(BM_RandomRuns);
BENCHMARK_CAPTURE(BM_Runs, three_faults, &ThreeFaults);
BENCHMARK_CAPTURE(BM_Runs, hang, &Hang);
BENCHMARK_CAPTURE(BM_Runs, preemption, &Preemption);

}  // namespace
}  // namespace gauntlet
