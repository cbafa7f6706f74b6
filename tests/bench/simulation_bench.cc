// How many cluster lives a second the simulated world has, on one core: whole
// runs of `tiny` (4 workers, 24 steps, 4 saves), each with its state digest at
// every step and the oracle's verdict.
#include <benchmark/benchmark.h>

#include "engine/check.h"
#include "harness/explore/laboratory.h"
#include "tests/bench/bench_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

Laboratory MakeLaboratory() {
  static References references("", "bench");
  return Laboratory::Make(LivesCase(), references).value();
}

std::vector<Fault> NoFault() { return {}; }

// A crash in a step, one in the recovery, and a damaged shard.
std::vector<Fault> ThreeFaults() {
  return {{.id = "crash",
           .site = {.worker = 1, .step = 9, .point = Point::kStepBegin}},
          {.id = "again",
           .site = {.worker = kChief, .life = 2, .point = Point::kLoadRead},
           .after = "crash"},
          {.id = "tear",
           .site = {.worker = 2, .life = 3, .point = Point::kShardWrite},
           .kind = FaultKind::kTornWrite,
           .after = "again"}};
}

std::vector<Fault> Hang() {
  return {{.id = "hang",
           .site = {.worker = 1, .step = 9, .point = Point::kStepBegin},
           .kind = FaultKind::kHang}};
}

std::vector<Fault> Preemption() {
  return {{.id = "preempt",
           .site = {.worker = 1, .step = 9, .point = Point::kStepBegin},
           .kind = FaultKind::kPreempt,
           .with = {.grace = std::chrono::seconds(30)}}};
}

void BM_Lives(benchmark::State& state, std::vector<Fault> (*faults)()) {
  Laboratory laboratory = MakeLaboratory();
  FaultPlan plan = {.faults = faults()};
  double virtual_seconds = 0;
  for (auto _ : state) {
    ++plan.seed;
    const Trial trial = laboratory.Try(plan);
    CHECK(trial.wrong.empty() && trial.record.faults.size() == faults().size(),
          fmt::format("seed {}: a run that is timed has to hold", plan.seed));
    virtual_seconds += trial.record.virtual_seconds;
  }
  state.counters["runs"] = benchmark::Counter(
      static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["virtual_to_real"] =
      benchmark::Counter(virtual_seconds, benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(BM_Lives, undisturbed, &NoFault);
BENCHMARK_CAPTURE(BM_Lives, three_faults, &ThreeFaults);
BENCHMARK_CAPTURE(BM_Lives, hang, &Hang);
BENCHMARK_CAPTURE(BM_Lives, preemption, &Preemption);

}  // namespace
}  // namespace gauntlet
