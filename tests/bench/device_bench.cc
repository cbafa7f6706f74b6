// The device of this machine beside the library's products on it, cuBLAS in
// fp32 without TF32: products, and whole steps of the mlp job. Prints both and
// their ratio, and what saves beside the training cost (save_bench.h); without
// a device it says so and ends with 6. With --emulated the saves alone, small
// and on the emulated device: whether the measurement works, no figure of
// anything.
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/gpu/device_kernels.h"
#include "engine/gpu/emulated_device.h"
#include "engine/job/job.h"
#include "engine/model/model.h"
#include "engine/model/optimizer.h"
#include "engine/real/cuda_plugin.h"
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

// Of one piece of work of many, until the device has done all of it.
template <typename Work>
double SecondsOf(const Kernels& kernels, int rounds, const Work& work) {
  work();
  static_cast<void>(kernels.status());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) work();
  static_cast<void>(kernels.status());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
             .count() /
         rounds;
}

std::vector<float> Values(size_t size) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(size);
  for (float& value : values) value = normal(random);
  return values;
}

// `fast` may be null, here and below.
void BenchProducts(const Kernels& own, const Kernels* fast, size_t size) {
  constexpr int kRounds = 20;
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
    const auto rate = [&](const Kernels& kernels) {
      return 2e-12 * static_cast<double>(size * size) *
             static_cast<double>(size) /
             SecondsOf(kernels, kRounds, [&] { kernels.MatMul(args); });
    };
    const double ours = rate(own);
    std::printf("%s %5zu: %6.2f TFLOP/s", form.name, size, ours);
    if (fast != nullptr) {
      const double theirs = rate(*fast);
      std::printf(", cuBLAS %6.2f, ratio %.3f", theirs, ours / theirs);
    }
    std::printf("\n");
  }
}

// Forward, loss, backward and update, as a worker with one replica has them.
double MillisecondsOfAStep(const Kernels& kernels, const JobSpec& job) {
  constexpr int kRounds = 200;
  auto built =
      Model::Build(job.model, {.height = 28, .width = 28}, 10, kernels);
  const std::unique_ptr<Model> model = std::move(built).value();
  const auto optimizer = Optimizer::Build(job.optimizer, kernels);
  const auto rows = static_cast<size_t>(job.batch);
  const std::vector<float> features = Values(rows * 28 * 28);
  const std::vector<uint8_t> labels(rows, 3);
  std::vector<float> start(model->parameter_count());
  model->Initialize(1, start);

  Memory& memory = kernels.memory();
  OptimizerState state = optimizer->InitialState(start.size());
  std::vector<MemoryArray<float>> arrays;
  for (size_t i = 0; i < 2 + state.slots.size(); ++i) {
    arrays.emplace_back(memory).Resize(start.size());
    memory.Clear(arrays[i].span().data(), arrays[i].span().size_bytes());
  }
  const std::span<float> parameters = arrays[0].span();
  const std::span<float> gradients = arrays[1].span();
  memory.Upload(parameters.data(), start.data(), parameters.size_bytes());
  std::vector<std::span<float>> slots;
  for (size_t i = 2; i < arrays.size(); ++i) slots.push_back(arrays[i].span());

  uint64_t update = 0;
  return 1e3 * SecondsOf(kernels, kRounds, [&] {
           model->Gradients(parameters,
                            {.features = features,
                             .labels = labels,
                             .loss_scale = 1.0f / static_cast<float>(rows)},
                            gradients);
           optimizer->Apply(update++, gradients, parameters,
                            {.slots = slots, .scalars = state.scalars});
         });
}

void BenchStep(const Kernels& own, const Kernels* fast) {
  const JobSpec job = PresetJob("mlp").value();
  const double ours = MillisecondsOfAStep(own, job);
  std::printf("mlp step: %.3f ms", ours);
  if (fast != nullptr) {
    const double theirs = MillisecondsOfAStep(*fast, job);
    std::printf(", --math fast %.3f ms, ratio %.3f", theirs, ours / theirs);
  }
  std::printf("\n");
}

Status RunDeviceBench(const gpu::DeviceApi& api) {
  ASSIGN_OR_RETURN(const auto own, gpu::OpenDevice({.api = &api}));
  const auto fast = gpu::OpenDevice({.api = &api}, Math::kFast);
  if (!fast.ok()) std::printf("%s\n", fast.status().message().c_str());
  const Kernels* const compared = fast.ok() ? fast->get() : nullptr;
  for (const size_t size : {512, 1024, 2048, 4096, 8192}) {
    BenchProducts(*own, compared, size);
  }
  BenchStep(*own, compared);
  RETURN_IF_ERROR(own->status());
  if (fast.ok()) RETURN_IF_ERROR((*fast)->status());
  return BenchSaves(api, {});
}

}  // namespace

int CodeOf(const Status& status) {
  if (!status.ok()) std::printf("%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}

int BenchEmulated() {
  return CodeOf(BenchSaves(gpu::EmulatedDevice(),
                           {.units = 24, .warm_up = 20, .saves = 3}));
}

int BenchCuda() {
  const auto cuda = OpenCuda();
  if (cuda.ok()) return CodeOf(RunDeviceBench(*cuda->api));
  std::printf("skipped: %s\n", cuda.status().message().c_str());
  return 6;
}

}  // namespace gauntlet

int main(int argc, char** argv) {
  if (argc == 1) return gauntlet::BenchCuda();
  if (argc == 2 && std::string(argv[1]) == "--emulated") {
    return gauntlet::BenchEmulated();
  }
  std::printf("usage: device_bench [--emulated]\n");
  return 2;
}
