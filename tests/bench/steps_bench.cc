// Whole training steps of presets on one worker: samples, gradients, exchange
// and update, without checkpoints. Each preset runs with the library's kernels,
// whose bits do not depend on the number of threads, and with Eigen's products.
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include "engine/check.h"
#include "engine/data/dataset.h"
#include "engine/real/real_world.h"
#include "tests/bench/only_worker.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// A preset's run, with the data that the preset names.
class Run {
 public:
  Run(const std::string& preset, const KernelOptions& kernels)
      : world_(parts_.world()),
        job_(PresetJob(preset).value()),
        data_(LoadData(world_.storage, job_.data).value()),
        schedule_(SampleSchedule::Make(job_, {.samples = data_->train.samples})
                      .value()),
        built_(BuildJobModel(job_, data_->train.shape(), 10, kernels).value()),
        worker_(world_, {.job = job_,
                         .data = *data_,
                         .schedule = schedule_,
                         .built = built_}) {}

  // Trains one step, and returns the loss of its samples.
  float Step() {
    const Result<StepOutcome> outcome = worker_.Step();
    CHECK(outcome.ok(), outcome.status().ToString());
    return outcome->loss;
  }
  Digest digest() { return worker_.state().ComputeDigest(); }
  int samples() const { return job_.batch; }

 private:
  RealWorld parts_;
  World world_;
  JobSpec job_;
  std::shared_ptr<const DataSplit> data_;
  SampleSchedule schedule_;
  JobModel built_;
  OnlyWorker worker_;
};

// Trains the first steps, and compares them with a run on another number of
// threads: all bits, or only the loss if products are Eigen's.
void MakeFirstSteps(Run& run, const std::string& preset,
                    const KernelOptions& kernels) {
  constexpr int kSteps = 3;
  Run expected(preset, {.threads = 3 - kernels.threads});
  const Digest start = run.digest();
  for (int step = 1; step <= kSteps; ++step) {
    const float loss = run.Step();
    const float expected_loss = expected.Step();
    CHECK(std::abs(loss - expected_loss) < 1e-3f,
          fmt::format("{}: loss of step {}: expected {}, found {}", preset,
                      step, expected_loss, loss));
  }
  CHECK(run.digest() != start, "steps changed nothing");
  CHECK(kernels.math != Math::kCanonical || run.digest() == expected.digest(),
        preset + ": expected the same bits on 1 and 2 threads");
}

void BM_Step(benchmark::State& state, const std::string& preset,
             const KernelOptions& kernels) {
  Run run(preset, kernels);
  MakeFirstSteps(run, preset, kernels);
  for (auto _ : state) run.Step();
  state.SetItemsProcessed(state.iterations() * run.samples());
}

int RegisterAll() {
  for (const char* preset : {"mlp", "dnn", "cnn"}) {
    for (const int threads : {1, 2}) {
      for (const Math math : {Math::kCanonical, Math::kFast}) {
        const std::string name =
            fmt::format("step/{}/threads:{}{}", preset, threads,
                        math == Math::kFast ? "/eigen" : "");
        benchmark::RegisterBenchmark(
            name.c_str(), BM_Step, preset,
            KernelOptions{.threads = threads, .math = math})
            ->MeasureProcessCPUTime()
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  return 0;
}
[[maybe_unused]] const int registered = RegisterAll();

}  // namespace
}  // namespace gauntlet
