// Kernels at the sizes of the mlp job (784-512-10). The products are timed in
// turn with Eigen's for the same instruction set, in CPU time of the thread, so
// that a busy machine hurts little and both alike: compare the ratio. And a
// whole step of the cnn job.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/job/job.h"
#include "engine/math/kernels.h"
#include "engine/model/model.h"
#include "engine/model/optimizer.h"
#include <time.h>

namespace gauntlet {
namespace {

// Values of both signs without a pattern that matters to speed.
std::vector<float> Values(size_t size) {
  std::vector<float> values(size);
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
  }
  return values;
}

std::unique_ptr<Kernels> KernelsFor(Isa isa, Math math = Math::kCanonical) {
  auto kernels = Kernels::Create({.isa = isa, .math = math});
  return kernels.ok() ? std::move(kernels).value() : nullptr;
}

double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

// Of one call, from so many that reading the clock does not count.
template <typename Work>
double SecondsOf(int repeats, const Work& work) {
  const double start = ThreadSeconds();
  for (int i = 0; i < repeats; ++i) work();
  return (ThreadSeconds() - start) / repeats;
}

struct Shape {
  const char* name;
  size_t m, n, k;
  Transpose a = Transpose::kNo;
  Transpose b = Transpose::kNo;
};
constexpr Shape kShapes[] = {
    {"forward1/32x784x512/NN", 32, 512, 784},
    {"forward1/64x784x512/NN", 64, 512, 784},
    {"forward2/32x512x10/NN", 32, 10, 512},
    {"forward2/64x512x10/NN", 64, 10, 512},
    {"weights1/784x32x512/TN", 784, 512, 32, Transpose::kYes},
    {"weights1/784x64x512/TN", 784, 512, 64, Transpose::kYes},
    {"weights2/512x32x10/TN", 512, 10, 32, Transpose::kYes},
    {"inputs2/32x10x512/NT", 32, 512, 10, Transpose::kNo, Transpose::kYes},
    {"inputs1/32x512x784/NT", 32, 784, 512, Transpose::kNo, Transpose::kYes},
    {"square/512/NN", 512, 512, 512},
    {"square/1024/NN", 1024, 1024, 1024},
};

void BM_Product(benchmark::State& state, const Shape& shape, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const auto eigen_kernels = KernelsFor(isa, Math::kFast);
  if (kernels == nullptr) {
    state.SkipWithError("this machine lacks the instruction set");
    return;
  }
  const std::vector<float> a = Values(shape.m * shape.k);
  const std::vector<float> b = Values(shape.k * shape.n);
  std::vector<float> c(shape.m * shape.n);
  const MatMulArgs args = {
      .m = shape.m,
      .n = shape.n,
      .k = shape.k,
      .a = a.data(),
      .lda = shape.a == Transpose::kYes ? shape.m : shape.k,
      .transpose_a = shape.a,
      .b = b.data(),
      .ldb = shape.b == Transpose::kYes ? shape.k : shape.n,
      .transpose_b = shape.b,
      .c = c.data(),
      .ldc = shape.n};
  const double flops = 2.0 * static_cast<double>(shape.m * shape.n * shape.k);
  const int repeats = std::max(1, static_cast<int>(1e7 / flops));
  double ours = 0.0;
  double eigen = 0.0;
  for (auto _ : state) {
    const double seconds = SecondsOf(repeats, [&] { kernels->MatMul(args); });
    // Of all repeats, else a small product goes on until its few microseconds
    // come to the seconds that are asked for. The counter "us" is of one.
    state.SetIterationTime(seconds * repeats);
    ours += seconds;
    eigen += SecondsOf(repeats, [&] { eigen_kernels->MatMul(args); });
  }
  const double work = flops * static_cast<double>(state.iterations());
  state.counters["us"] = 1e6 * ours / static_cast<double>(state.iterations());
  state.counters["GF/s"] = work * 1e-9 / ours;
  state.counters["eigen_GF/s"] = work * 1e-9 / eigen;
  state.counters["vs_eigen"] = eigen / ours;
}

constexpr size_t kBatch = 32;
constexpr size_t kHidden = 512;
constexpr size_t kParameters = 784 * 512 + 512 + 512 * 10 + 10;

void BM_Dropout(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  std::vector<float> x = Values(kBatch * kHidden);
  Kernels::DropoutArgs args = {.columns = kHidden, .rate = 0.2f};
  for (auto _ : state) {
    ++args.step;
    kernels->Dropout(args, x, x);
  }
}

void BM_Adam(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const std::vector<float> gradients = Values(kParameters);
  std::vector<float> parameters = gradients;
  std::vector<float> m(kParameters), v(kParameters);
  for (auto _ : state) {
    kernels->Adam(
        {.step_size = 1e-3f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-7f},
        gradients, parameters, m, v);
  }
}

void BM_ColumnSums(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const std::vector<float> x = Values(kBatch * kHidden);
  std::vector<float> out(kHidden);
  for (auto _ : state) kernels->ColumnSums(x, kBatch, kHidden, out);
}

void BM_Relu(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  std::vector<float> x = Values(kBatch * kHidden);
  for (auto _ : state) kernels->Relu(x, x);
}

void BM_CrossEntropy(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const std::vector<float> logits = Values(kBatch * 10);
  const std::vector<uint8_t> labels(kBatch, 3);
  std::vector<float> losses(kBatch), gradients(kBatch * 10);
  for (auto _ : state) {
    kernels->SoftmaxCrossEntropy({.outputs = logits,
                                  .labels = labels,
                                  .classes = 10,
                                  .scale = 0.03f,
                                  .losses = losses,
                                  .gradients = gradients});
  }
}

// Forward, loss, backward and update, as a worker with one replica has them.
void BM_CnnStep(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const JobSpec job = std::move(PresetJob("cnn-short")).value();
  const auto model =
      std::move(
          Model::Build(job.model, {.height = 28, .width = 28}, 10, *kernels))
          .value();
  const auto optimizer = Optimizer::Build(job.optimizer, *kernels);
  const auto rows = static_cast<size_t>(job.batch);
  const std::vector<float> features = Values(rows * 28 * 28);
  const std::vector<uint8_t> labels(rows, 3);
  std::vector<float> parameters(model->parameter_count());
  std::vector<float> gradients(parameters.size());
  model->Initialize(1, parameters);
  OptimizerState slots = optimizer->InitialState(parameters.size());
  double seconds = 0.0;
  for (auto _ : state) {
    seconds += SecondsOf(1, [&] {
      model->Gradients(parameters,
                       {.features = features,
                        .labels = labels,
                        .loss_scale = 1.0f / static_cast<float>(rows)},
                       gradients);
      optimizer->Apply(0, gradients, parameters, slots);
    });
  }
  state.counters["rows/s"] = static_cast<double>(rows) *
                             static_cast<double>(state.iterations()) / seconds;
}

// One layer after another, with 32 channels between them.
void BM_ConvolutionInputs(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const numerics::ConvolutionShape shape = {16, 26, 26, 32, 3, 32};
  const std::vector<float> dy = Values(shape.Places() * shape.filters);
  const std::vector<float> kernel = Values(shape.Taps() * shape.filters);
  std::vector<float> dx(shape.samples * 26 * 26 * 32);
  double seconds = 0.0;
  for (auto _ : state) {
    seconds += SecondsOf(
        1, [&] { kernels->ConvolutionInputGradient(shape, dy, kernel, dx); });
  }
  state.counters["GF/s"] = 2e-9 *
                           static_cast<double>(dy.size() * shape.Taps()) *
                           static_cast<double>(state.iterations()) / seconds;
}

void BM_Create(benchmark::State& state, Isa isa) {
  for (auto _ : state) benchmark::DoNotOptimize(KernelsFor(isa));
}

int RegisterAll() {
  for (const Isa isa : {Isa::kAvx512, Isa::kAvx2, Isa::kScalar}) {
    const std::string suffix = "/" + std::string(IsaName(isa));
    for (const Shape& shape : kShapes) {
      if (isa == Isa::kScalar) continue;  // a yardstick for bits, not speed
      benchmark::RegisterBenchmark((shape.name + suffix).c_str(), BM_Product,
                                   shape, isa)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
    if (KernelsFor(isa) == nullptr) continue;
    const auto add = [&](const char* name, auto function) {
      benchmark::RegisterBenchmark((name + suffix).c_str(), function, isa)
          ->Unit(benchmark::kMicrosecond);
    };
    add("dropout/32x512", BM_Dropout);
    add("adam/407050", BM_Adam);
    add("column_sums/32x512", BM_ColumnSums);
    add("relu/32x512", BM_Relu);
    add("cross_entropy/32x10", BM_CrossEntropy);
    add("convolution_inputs/16x26x26x32", BM_ConvolutionInputs);
    add("cnn_step/64", BM_CnnStep);
    add("create", BM_Create);
  }
  return 0;
}
[[maybe_unused]] const int registered = RegisterAll();

}  // namespace
}  // namespace gauntlet
