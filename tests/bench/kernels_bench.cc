// Kernels at the sizes of the mlp job (784-512-10), products of wide shapes,
// and a whole step of the cnn job. Products alternate with Eigen's for the same
// instruction set, and are timed in CPU time of the thread. Load on the machine
// has little effect on CPU time, and the same effect on both products, so
// compare the ratio. Each result is checked once: products against Eigen's, the
// others bit for bit against the scalar kernels'.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/check.h"
#include "engine/job/job.h"
#include "engine/large_array.h"
#include "engine/math/kernels.h"
#include "engine/model/model.h"
#include "engine/model/optimizers/optimizer.h"
#include "tests/bench/bench_arrays.h"
#include <fmt/format.h>
#include <time.h>

namespace gauntlet {
namespace {

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

// Returns the seconds per call, measured over enough calls for the cost of
// reading the clock to be negligible.
template <typename Work>
double SecondsOf(int repeats, const Work& work) {
  const double start = ThreadSeconds();
  for (int i = 0; i < repeats; ++i) work();
  return (ThreadSeconds() - start) / repeats;
}

struct Form {
  const char* name;
  Transpose a;
  Transpose b;
};
constexpr Form kNN = {"NN", Transpose::kNo, Transpose::kNo};
constexpr Form kTN = {"TN", Transpose::kYes, Transpose::kNo};
constexpr Form kNT = {"NT", Transpose::kNo, Transpose::kYes};

// A product's shape, named like "forward1/32x512x784/NN": m x n x k.
struct Shape {
  const char* use;
  size_t m, n, k;
  Form form;

  std::string name() const {
    return fmt::format("{}/{}x{}x{}/{}", use, m, n, k, form.name);
  }
};
constexpr Shape kShapes[] = {
    {"forward1", 32, 512, 784, kNN},
    {"forward1", 64, 512, 784, kNN},
    {"forward1", 50, 256, 784, kNN},  // the dnn job's
    {"forward2", 32, 10, 512, kNN},
    {"forward2", 64, 10, 512, kNN},
    {"weights1", 784, 512, 32, kTN},
    {"weights1", 784, 512, 64, kTN},
    {"weights2", 512, 10, 32, kTN},
    {"inputs2", 32, 512, 10, kNT},
    {"inputs1", 32, 784, 512, kNT},
    {"square", 512, 512, 512, kNN},
    {"square", 1024, 1024, 1024, kNN},
    // The cnn job: its dense layer and its convolution.
    {"wide", 64, 128, 21632, kNN},
    {"wide", 21632, 128, 64, kTN},
    {"wide", 64, 21632, 128, kNT},
    {"wide", 43264, 32, 9, kNN},
    // Wide dense layers at a small batch.
    {"wide", 32, 2530, 2530, kNN},
    {"wide", 2530, 2530, 32, kTN},
    {"wide", 32, 2530, 2530, kNT},
    {"wide", 32, 4096, 4096, kNN},
    {"wide", 32, 4096, 4096, kNT},
};

// Inputs are in [-1, 1], so rounding errors grow at most linearly with k.
void CheckProduct(const Shape& shape, std::span<const float> ours,
                  std::span<const float> eigen) {
  const float limit = 1e-6f * static_cast<float>(shape.k);
  for (size_t i = 0; i < ours.size(); ++i) {
    CHECK(std::abs(ours[i] - eigen[i]) <= limit,
          fmt::format("{}: element {}: expected {}, found {}", shape.name(), i,
                      eigen[i], ours[i]));
  }
}

// Returns Values in huge pages, in which the engine stores parameters and
// gradients.
std::vector<float> LargeValues(size_t size) {
  auto values = MakeLargeArray<float>(size);
  std::ranges::copy(Values(size), values.begin());
  return values;
}

void BM_Product(benchmark::State& state, const Shape& shape, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const auto eigen_kernels = KernelsFor(isa, Math::kFast);
  const std::vector<float> a = LargeValues(shape.m * shape.k);
  const std::vector<float> b = LargeValues(shape.k * shape.n);
  auto c = MakeLargeArray<float>(shape.m * shape.n);
  const MatMulArgs args = {
      .m = shape.m,
      .n = shape.n,
      .k = shape.k,
      .a = a.data(),
      .lda = shape.form.a == Transpose::kYes ? shape.m : shape.k,
      .transpose_a = shape.form.a,
      .b = b.data(),
      .ldb = shape.form.b == Transpose::kYes ? shape.k : shape.n,
      .transpose_b = shape.form.b,
      .c = c.data(),
      .ldc = shape.n};
  const double flops = 2.0 * static_cast<double>(shape.m * shape.n * shape.k);
  const int repeats = std::max(1, static_cast<int>(1e7 / flops));
  eigen_kernels->MatMul(args);
  const std::vector<float> expected = c;
  std::ranges::fill(c, 0.0f);
  kernels->MatMul(args);
  CheckProduct(shape, c, expected);
  double ours = 0.0;
  double eigen = 0.0;
  for (auto _ : state) {
    const double seconds = SecondsOf(repeats, [&] { kernels->MatMul(args); });
    // Counts the time of all repeats: otherwise a small product would repeat
    // until its few microseconds add up to the requested seconds. The counter
    // "us" is the time of one product.
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

// Checks that `compute` returns the same bits on `kernels` and on scalar
// kernels.
template <typename Compute>
void CheckBits(const Kernels& kernels, const Compute& compute) {
  const std::vector<float> ours = compute(kernels);
  const std::vector<float> scalar = compute(*KernelsFor(Isa::kScalar));
  CHECK(std::ranges::any_of(ours, [](float value) { return value != 0.0f; }),
        "nothing was computed");
  CHECK(DigestOf(std::as_bytes(std::span(ours))) ==
            DigestOf(std::as_bytes(std::span(scalar))),
        "expected the bits of the scalar kernels");
}

void BM_Dropout(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  std::vector<float> x = Values(kBatch * kHidden);
  Kernels::DropoutArgs args = {.columns = kHidden, .rate = 0.2f};
  CheckBits(*kernels, [&](const Kernels& by) {
    std::vector<float> y(x.size());
    by.Dropout(args, x, y);
    return y;
  });
  for (auto _ : state) {
    ++args.step;
    kernels->Dropout(args, x, x);
  }
}

void BM_Adam(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const AdamArgs args = {
      .step_size = 1e-3f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-7f};
  const std::vector<float> gradients = Values(kParameters);
  std::vector<float> parameters = gradients;
  std::vector<float> m(kParameters), v(kParameters);
  CheckBits(*kernels, [&](const Kernels& by) {
    std::vector<float> updated = parameters;
    std::vector<float> next_m = m, next_v = v;
    by.Adam(args, gradients, std::span(updated), std::span(next_m),
            std::span(next_v));
    return updated;
  });
  for (auto _ : state) {
    kernels->Adam(args, gradients, std::span(parameters), std::span(m),
                  std::span(v));
  }
}

void BM_ColumnSums(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const std::vector<float> x = Values(kBatch * kHidden);
  std::vector<float> out(kHidden);
  CheckBits(*kernels, [&](const Kernels& by) {
    by.ColumnSums(x, kBatch, kHidden, out);
    return out;
  });
  for (auto _ : state) kernels->ColumnSums(x, kBatch, kHidden, out);
}

template <numerics::Activation kActivation>
void BM_Activation(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const std::vector<float> x = Values(kBatch * kHidden);
  std::vector<float> y(x.size());
  CheckBits(*kernels, [&](const Kernels& by) {
    by.Activate(kActivation, x, y);
    return y;
  });
  for (auto _ : state) kernels->Activate(kActivation, x, y);
}

void BM_CrossEntropy(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const std::vector<float> logits = Values(kBatch * 10);
  const std::vector<uint8_t> labels(kBatch, 3);
  std::vector<float> losses(kBatch), gradients(kBatch * 10);
  const LossArgs args = {.outputs = logits,
                         .labels = labels,
                         .classes = 10,
                         .scale = 0.03f,
                         .losses = losses,
                         .gradients = gradients};
  CheckBits(*kernels, [&](const Kernels& by) {
    by.SoftmaxCrossEntropy(args);
    return gradients;
  });
  for (auto _ : state) kernels->SoftmaxCrossEntropy(args);
}

// Times forward, loss, backward and update of a worker with one replica.
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
  std::vector<float> losses;
  for (auto _ : state) {
    seconds += SecondsOf(1, [&] {
      const ReplicaResult result =
          model->Gradients(parameters,
                           {.features = features,
                            .labels = labels,
                            .loss_scale = 1.0f / static_cast<float>(rows)},
                           gradients);
      optimizer->Apply(0, gradients, parameters, slots);
      losses.push_back(result.loss);
    });
  }
  CHECK(losses.front() > 0.0f &&
            (losses.size() == 1 || losses.back() < losses.front()),
        "steps did not lower the loss of their rows");
  state.counters["rows/s"] = static_cast<double>(rows) *
                             static_cast<double>(state.iterations()) / seconds;
}

// Times the input gradient of a convolution between two layers of 32 channels.
void BM_ConvolutionInputs(benchmark::State& state, Isa isa) {
  const auto kernels = KernelsFor(isa);
  const numerics::ConvolutionShape shape = {16, 26, 26, 32, 3, 32};
  const std::vector<float> dy = Values(shape.Places() * shape.filters);
  const std::vector<float> kernel = Values(shape.Taps() * shape.filters);
  std::vector<float> dx(shape.samples * 26 * 26 * 32);
  CheckBits(*kernels, [&](const Kernels& by) {
    by.ConvolutionInputGradient(shape, dy, kernel, dx);
    return dx;
  });
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
    if (KernelsFor(isa) == nullptr) continue;  // not on this machine
    const std::string suffix = "/" + std::string(IsaName(isa));
    for (const Shape& shape : kShapes) {
      if (isa == Isa::kScalar) continue;  // a reference for bits, not for speed
      benchmark::RegisterBenchmark((shape.name() + suffix).c_str(), BM_Product,
                                   shape, isa)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
    const auto add = [&](const char* name, auto function) {
      benchmark::RegisterBenchmark((name + suffix).c_str(), function, isa)
          ->Unit(benchmark::kMicrosecond);
    };
    add("dropout/32x512", BM_Dropout);
    add("adam/407050", BM_Adam);
    add("column_sums/32x512", BM_ColumnSums);
    add("relu/32x512", BM_Activation<numerics::Activation::kRelu>);
    add("gelu/32x512", BM_Activation<numerics::Activation::kGelu>);
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
