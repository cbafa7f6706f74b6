// Products on the device of this machine, beside cuBLAS's in fp32 without
// TF32, which is opened where there is one. Prints TFLOP/s of both and their
// ratio; without a device it says so and ends with 6.
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "engine/gpu/device_kernels.h"
#include "engine/real/cuda_plugin.h"
#include <dlfcn.h>

namespace gauntlet {
namespace {

constexpr int kRounds = 20;

struct Form {
  const char* name;
  Transpose a;
  Transpose b;
};
constexpr Form kForms[] = {{"NN", Transpose::kNo, Transpose::kNo},
                           {"TN", Transpose::kYes, Transpose::kNo},
                           {"NT", Transpose::kNo, Transpose::kYes}};

// cuBLAS by its C names; columns lie where our rows do, so c^T = b^T a^T.
class Cublas {
 public:
  explicit Cublas(void* library)
      : sgemm_(reinterpret_cast<Sgemm*>(dlsym(library, "cublasSgemm_v2"))) {
    const auto create =
        reinterpret_cast<int (*)(void**)>(dlsym(library, "cublasCreate_v2"));
    if (create == nullptr || create(&handle_) != 0) handle_ = nullptr;
  }
  bool works() const { return handle_ != nullptr && sgemm_ != nullptr; }
  void Multiply(const MatMulArgs& p) const {
    const float one = 1.0f;
    const float zero = 0.0f;
    const auto size = [](size_t value) { return static_cast<int>(value); };
    sgemm_(handle_, p.transpose_b == Transpose::kYes ? 1 : 0,
           p.transpose_a == Transpose::kYes ? 1 : 0, size(p.n), size(p.m),
           size(p.k), &one, p.b, size(p.ldb), p.a, size(p.lda), &zero, p.c,
           size(p.ldc));
  }

 private:
  using Sgemm = int(void*, int, int, int, int, int, const float*, const float*,
                    int, const float*, int, const float*, float*, int);
  Sgemm* sgemm_;
  void* handle_ = nullptr;
};

// All that was asked of the device, by whichever library, is done.
using Wait = int();

template <typename Multiply>
double SecondsOf(Wait& wait, const Multiply& multiply) {
  multiply();
  wait();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) multiply();
  wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
             .count() /
         kRounds;
}

void Bench(const Kernels& kernels, const Cublas* cublas, Wait& wait,
           size_t size) {
  Memory& memory = kernels.memory();
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(size * size);
  for (float& value : values) value = normal(random);
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
    const double flops = 2.0 * static_cast<double>(size * size) *
                         static_cast<double>(size) * 1e-12;
    const double own = flops / SecondsOf(wait, [&] { kernels.MatMul(args); });
    std::printf("%s %5zu: %6.2f TFLOP/s", form.name, size, own);
    if (cublas != nullptr) {
      const double theirs =
          flops / SecondsOf(wait, [&] { cublas->Multiply(args); });
      std::printf(", cuBLAS %6.2f, ratio %.3f", theirs, own / theirs);
    }
    std::printf("\n");
  }
}

}  // namespace

int RunDeviceBench() {
  const auto api = OpenCuda();
  if (!api.ok()) {
    std::printf("skipped: %s\n", api.status().message().c_str());
    return 6;
  }
  const auto kernels = gpu::OpenDevice({.api = *api});
  if (!kernels.ok()) {
    std::printf("%s\n", kernels.status().message().c_str());
    return 1;
  }
  void* library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libcublas.so.12", RTLD_NOW);
  const Cublas cublas(library);
  const bool compare = cublas.works();
  if (!compare) std::printf("no cuBLAS here\n");
  // There is one: the device was opened with it.
  const auto wait = reinterpret_cast<Wait*>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSynchronize"));
  for (const size_t size : {512, 1024, 2048, 4096, 8192}) {
    Bench(**kernels, compare ? &cublas : nullptr, *wait, size);
  }
  const Status status = (*kernels)->status();
  if (!status.ok()) std::printf("%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace gauntlet

int main() { return gauntlet::RunDeviceBench(); }
