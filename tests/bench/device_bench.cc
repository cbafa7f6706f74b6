// Times this machine's GPU with the engine's kernels and, alternating with
// them, cuBLAS in fp32 without TF32. Prints both speeds and their ratio.
//
//   device_bench products    matrix products of 512 to 8192 rows
//   device_bench steps       whole training steps of preset mlp
//   device_bench saves       cost of asynchronous checkpoints (save_bench.h)
//   device_bench             all three
//   device_bench --emulated  the same at a small size on the emulated device: a
//                            test of the program, whose figures mean nothing
//
// Exit code 6: there is no GPU. Exit code 1: a measurement failed, or there is
// no cuBLAS to compare with.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/gpu/device_kernels.h"
#include "engine/gpu/emulated_device.h"
#include "engine/job/job.h"
#include "engine/model/model.h"
#include "engine/model/optimizers/optimizer.h"
#include "engine/real/host/cuda_plugin.h"
#include "tests/bench/save_bench.h"

namespace gauntlet {
namespace {

struct Form {
  const char* name;
  Transpose a;
  Transpose b;
};
constexpr Form kForms[] = {{"NN", Transpose::kNo, Transpose::kNo},
                           {"TN", Transpose::kYes, Transpose::kNo},
                           {"NT", Transpose::kNo, Transpose::kYes}};

// Duration of the measurement of one figure.
struct BenchTime {
  double warm_up_seconds = 0.5;  // a GPU raises its clock under load only
  double trial_seconds = 0.1;
  int trials = 7;  // per side, alternating
};

// One side of a comparison.
struct Side {
  const Kernels& kernels;
  std::function<void()> work;
};

// Returns the seconds from the first of `rounds` calls until the device has
// completed all of them.
double SecondsOf(const Side& side, int rounds) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) side.work();
  static_cast<void>(side.kernels.status());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

// Warms up the device, and returns how many calls take about trial_seconds.
int WarmUp(const Side& side, const BenchTime& time) {
  SecondsOf(side, 1);  // allocates buffers, loads kernels
  constexpr int kMostRounds = 1 << 16;
  double spent = 0;
  double each = 0;
  for (int rounds = 1; spent < time.warm_up_seconds;
       rounds = std::min(2 * rounds, kMostRounds)) {
    const double seconds = SecondsOf(side, rounds);
    spent += seconds;
    each = seconds / rounds;
  }
  return std::max(1, static_cast<int>(time.trial_seconds / each));
}

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Returns the seconds per call of each side: medians of alternating trials (A B
// A B …), so that a drifting clock rate affects both sides equally.
std::vector<double> SecondsByTurns(const std::vector<Side>& sides,
                                   const BenchTime& time) {
  std::vector<int> rounds;
  for (const Side& side : sides) rounds.push_back(WarmUp(side, time));
  std::vector<std::vector<double>> trials(sides.size());
  for (int trial = 0; trial < time.trials; ++trial) {
    for (size_t i = 0; i < sides.size(); ++i) {
      trials[i].push_back(SecondsOf(sides[i], rounds[i]) / rounds[i]);
    }
  }
  std::vector<double> medians;
  for (auto& seconds : trials) medians.push_back(MedianOf(std::move(seconds)));
  return medians;
}

std::vector<float> Values(size_t size) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(size);
  for (float& value : values) value = normal(random);
  return values;
}

void BenchProducts(const Kernels& own, const Kernels& cublas, size_t size,
                   const BenchTime& time) {
  Memory& memory = own.memory();
  const std::vector<float> values = Values(size * size);
  MemoryArray<float> a(memory), b(memory), c(memory);
  for (MemoryArray<float>* array : {&a, &b, &c}) {
    array->Resize(values.size());
    memory.Upload(array->span().data(), values.data(),
                  values.size() * sizeof(float));
  }
  for (const Form& form : kForms) {
    const MatMulArgs args = {.m = size,
                             .n = size,
                             .k = size,
                             .a = a.span().data(),
                             .lda = size,
                             .transpose_a = form.a,
                             .b = b.span().data(),
                             .ldb = size,
                             .transpose_b = form.b,
                             .c = c.span().data(),
                             .ldc = size};
    const std::vector<double> seconds =
        SecondsByTurns({{own, [&] { own.MatMul(args); }},
                        {cublas, [&] { cublas.MatMul(args); }}},
                       time);
    const double work =
        2e-12 * static_cast<double>(size * size) * static_cast<double>(size);
    std::printf("%s %5zu: %6.2f TFLOP/s, cuBLAS %6.2f, ratio %.3f\n", form.name,
                size, work / seconds[0], work / seconds[1],
                seconds[1] / seconds[0]);
  }
}

// One worker with one replica: forward, loss, backward and update.
class TrainingStep {
 public:
  TrainingStep(const Kernels& kernels, const JobSpec& job)
      : model_(Model::Build(job.model, {.height = 28, .width = 28}, 10, kernels)
                   .value()),
        optimizer_(Optimizer::Build(job.optimizer, kernels)),
        features_(Values(static_cast<size_t>(job.batch) * 28 * 28)),
        labels_(static_cast<size_t>(job.batch), 3) {
    const size_t size = model_->parameter_count();
    std::vector<float> start(size);
    model_->Initialize(1, start);
    OptimizerState state = optimizer_->InitialState(size);
    scalars_ = std::move(state.scalars);
    Memory& memory = kernels.memory();
    for (size_t i = 0; i < 2 + state.slots.size(); ++i) {
      arrays_.emplace_back(memory).Resize(size);
      memory.Clear(arrays_[i].span().data(), arrays_[i].span().size_bytes());
    }
    memory.Upload(arrays_[0].span().data(), start.data(),
                  arrays_[0].span().size_bytes());
    for (size_t i = 2; i < arrays_.size(); ++i) {
      slots_.push_back(arrays_[i].span());
    }
  }

  void Run() {
    const std::span<float> parameters = arrays_[0].span();
    const std::span<float> gradients = arrays_[1].span();
    model_->Gradients(parameters,
                      {.features = features_,
                       .labels = labels_,
                       .loss_scale = 1.0f / static_cast<float>(labels_.size())},
                      gradients);
    optimizer_->Apply(update_++, gradients, parameters,
                      {.slots = slots_, .scalars = scalars_});
  }

 private:
  const std::unique_ptr<Model> model_;
  const std::unique_ptr<Optimizer> optimizer_;
  const std::vector<float> features_;
  const std::vector<uint8_t> labels_;
  std::vector<MemoryArray<float>> arrays_;  // parameters, gradients, slots
  std::vector<UpdatedArray> slots_;
  decltype(OptimizerState::scalars) scalars_;
  uint64_t update_ = 0;
};

void BenchStep(const Kernels& own, const Kernels& cublas,
               const BenchTime& time) {
  const JobSpec job = PresetJob("mlp").value();
  TrainingStep ours(own, job);
  TrainingStep theirs(cublas, job);
  const std::vector<double> seconds = SecondsByTurns(
      {{own, [&] { ours.Run(); }}, {cublas, [&] { theirs.Run(); }}}, time);
  std::printf("mlp step: %.3f ms, --math library %.3f ms, ratio %.3f\n",
              1e3 * seconds[0], 1e3 * seconds[1], seconds[1] / seconds[0]);
}

enum class Part { kProducts, kSteps, kSaves };

Status RunParts(const gpu::DeviceApi& api, const std::vector<Part>& parts) {
  for (const Part part : parts) {
    if (part == Part::kSaves) {
      RETURN_IF_ERROR(BenchSaves(api, {}));
      continue;
    }
    ASSIGN_OR_RETURN(const auto own, gpu::OpenDevice({.api = &api}));
    ASSIGN_OR_RETURN(const auto cublas,
                     gpu::OpenDevice({.api = &api}, Math::kFast));
    if (part == Part::kSteps) {
      BenchStep(*own, *cublas, {});
    } else {
      for (const size_t size : {512, 1024, 2048, 4096, 8192}) {
        BenchProducts(*own, *cublas, size, {});
      }
    }
    RETURN_IF_ERROR(own->status());
    RETURN_IF_ERROR(cublas->status());
  }
  return OkStatus();
}

}  // namespace

int CodeOf(const Status& status) {
  if (!status.ok()) std::printf("%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}

// The emulated device has no cuBLAS: the engine's kernels stand for both.
int BenchEmulated() {
  const gpu::DeviceApi& api = gpu::EmulatedDevice();
  const auto own = gpu::OpenDevice({.api = &api});
  if (!own.ok()) return CodeOf(own.status());
  const BenchTime time = {
      .warm_up_seconds = 0.01, .trial_seconds = 0.001, .trials = 3};
  BenchProducts(**own, **own, 64, time);
  BenchStep(**own, **own, time);
  return CodeOf(BenchSaves(api, {.units = 24, .warm_up = 20, .saves = 3}));
}

int BenchCuda(const std::vector<Part>& parts) {
  const auto cuda = OpenCuda();
  if (cuda.ok()) return CodeOf(RunParts(*cuda->api, parts));
  std::printf("skipped: %s\n", cuda.status().message().c_str());
  return 6;
}

}  // namespace gauntlet

int main(int argc, char** argv) {
  using gauntlet::Part;
  const std::string_view part = argc == 2 ? argv[1] : "";
  if (argc == 1) {
    return gauntlet::BenchCuda({Part::kProducts, Part::kSteps, Part::kSaves});
  }
  if (part == "--emulated") return gauntlet::BenchEmulated();
  if (part == "products") return gauntlet::BenchCuda({Part::kProducts});
  if (part == "steps") return gauntlet::BenchCuda({Part::kSteps});
  if (part == "saves") return gauntlet::BenchCuda({Part::kSaves});
  std::printf("usage: device_bench [products|steps|saves|--emulated]\n");
  return 2;
}
