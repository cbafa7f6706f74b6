// Number of crash states per second from which the engine recovers.
#include <benchmark/benchmark.h>

#include "engine/check.h"
#include "harness/explore/crash/crash_states.h"
#include "tests/bench/bench_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Google Benchmark counts each case (a whole save or recovery) as one
// iteration.
void CrashStates(benchmark::State& state, DurabilityProfile profile,
                 CrashWindow window) {
  References references("", "bench");
  const Case one = BenchCase(R"(job:
  data: {kind: digits, samples: 96, validation_samples: 32, side: 7}
  batch: 4
  epochs: 4
checkpoint: {every: {steps: 6}, keep: 2}
)");
  const CrashStateOptions options = {.profiles = {profile},
                                     .windows = {window}};
  CrashStateCounts counts;
  for (auto _ : state) {
    const auto report = ExploreCrashStates(one, references, options);
    CHECK(report.ok(), report.status().ToString());
    CHECK(report->images_failed == 0, report->findings[0].id);
    counts = report->counts[0];
  }
  const auto rate = [&](uint64_t count) {
    return benchmark::Counter(static_cast<double>(count),
                              benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["distinct_images"] = rate(counts.images_distinct);
  state.counters["enumerated_images"] = rate(counts.images_enumerated);
  state.SetLabel(
      fmt::format("{} points, {} enumerated, {} distinct, {:.3g} "
                  "left out",
                  counts.points, counts.images_enumerated,
                  counts.images_distinct, counts.images_left_out));
}

using enum DurabilityProfile;
BENCHMARK_CAPTURE(CrashStates, save_ext4, kExt4, CrashWindow::kSave)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(CrashStates, save_weak, kWeak, CrashWindow::kSave)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(CrashStates, recovery_ext4, kExt4, CrashWindow::kRecovery)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(CrashStates, recovery_weak, kWeak, CrashWindow::kRecovery)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(CrashStates, rot, kExt4, CrashWindow::kRot)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gauntlet
