// Every operation on a device, compared bit for bit with the CPU's: on the
// emulated device, and on CUDA if this machine has it (ci/run.sh gpu).
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/gpu/device_kernels.h"
#include "engine/real/host/cuda_plugin.h"
#include "tests/engine/math/test_arrays.h"
#include "tests/engine/train/guarded_device.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using numerics::ConvolutionShape;
using Arrays = std::vector<std::vector<float>>;
using Spans = std::vector<std::span<float>>;
using Operation = std::function<void(const Kernels&, const Spans&)>;

Result<const gpu::DeviceApi*> OpenAnyCuda() {
  RETURN_IF_ERROR(FindCudaDriver());
  const Result<CudaDevices> linked = OpenCuda();
  if (linked.ok()) return linked->api;
  if (std::string(CUDA_LIBRARY).empty()) return linked.status();
  return OpenDeviceLibrary(CUDA_LIBRARY);
}

class DeviceBitsTest : public ::testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    const gpu::DeviceApi* api = &GuardedDevice();
    if (GetParam() == DeviceKind::kCuda) {
      const auto cuda = OpenAnyCuda();
      if (!cuda.ok()) GTEST_SKIP() << cuda.status().message();
      api = *cuda;
    }
    auto opened = gpu::OpenDevice({.api = api});
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device_ = *std::move(opened);
  }

  // Returns the number of elements of an array: more on a real device, which is
  // fast, unless a sanitizer of the device slows it down (ci/gpu.sh).
  size_t Size(size_t emulated, size_t real) const {
    const bool small = std::getenv("GAUNTLET_SMALL_DEVICE_TESTS") != nullptr;
    return GetParam() == DeviceKind::kCuda && !small ? real : emulated;
  }

  Arrays Filled(const std::vector<size_t>& sizes) {
    Arrays arrays;
    const Values values = kAllValues[random_() % std::size(kAllValues)];
    for (const size_t size : sizes) {
      Fill(arrays.emplace_back(size), values, random_);
    }
    return arrays;
  }

  // Expects all arrays to be as the CPU leaves them.
  void ExpectTheCpusBits(const Arrays& before, const Operation& operation,
                         const std::string& what) {
    Arrays expected = before;
    Arrays found = before;
    Memory& memory = device_->memory();
    std::vector<MemoryArray<float>> there;
    Spans there_spans;
    for (std::vector<float>& array : found) {
      there_spans.push_back(
          CopyIn(memory, std::span(array), there.emplace_back(memory)));
    }
    operation(*device_, there_spans);
    operation(*cpu_, Spans(expected.begin(), expected.end()));
    for (size_t i = 0; i < found.size(); ++i) {
      DownloadInto(memory, there_spans[i], std::span(found[i]));
    }
    ASSERT_TRUE(device_->status().ok()) << device_->status().message();
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(FirstDifference(found[i], expected[i]), expected[i].size())
          << what << ", array " << i;
    }
  }

  std::mt19937 random_{11};
  std::unique_ptr<Kernels> cpu_ = Kernels::Create({}).value();
  std::unique_ptr<Kernels> device_;
};

MatMulArgs Product(size_t m, size_t n, size_t k, Transpose a, Transpose b) {
  return {.m = m,
          .n = n,
          .k = k,
          .lda = a == Transpose::kYes ? m : k,
          .transpose_a = a,
          .ldb = b == Transpose::kYes ? k : n,
          .transpose_b = b,
          .ldc = n};
}

// A copy has the values of the moment at which it was requested, whatever later
// operations write. Covers copies of less than one piece and of several pieces,
// to host memory that is pinned and that is not.
TEST_P(DeviceBitsTest, FetchedDuringOperations) {
  Memory& memory = device_->memory();
  for (const size_t size : {5'000, 3'000'001}) {
    for (const bool pinned : {false, true}) {
      std::vector<float> values(size);
      Fill(values, Values::kNormal, random_);
      MemoryArray<float> live(memory);
      MemoryArray<float> copy(memory);
      live.Resize(size);
      ASSERT_TRUE(copy.ResizeIfRoom(size));
      const size_t bytes = size * sizeof(float);
      memory.Upload(live.span().data(), values.data(), bytes);
      device_->Scale(0.5f, live.span());
      memory.Copy(copy.span().data(), live.span().data(), bytes);
      std::vector<float> found(size);
      std::optional<Pinned> pin;
      if (pinned) pin.emplace(memory, std::span(found));
      memory.Fetch(found.data(), copy.span().data(), bytes);
      for (int i = 0; i < 50; ++i) device_->Scale(0.5f, live.span());
      ASSERT_TRUE(memory.AwaitFetch().ok());
      ASSERT_TRUE(device_->status().ok());
      cpu_->Scale(0.5f, values);
      EXPECT_EQ(FirstDifference(found, values), size)
          << (pinned ? "pinned" : "not pinned");
    }
  }
}

TEST_P(DeviceBitsTest, Products) {
  const size_t large = Size(300, 2000);
  const size_t shapes[][3] = {
      {1, 1, 1},     {64, 512, 784},  {64, 10, 512},       {33, 65, 257},
      {9, 32, 5000}, {128, 128, 256}, {large, large, 513}, {257, 129, 0}};
  for (const auto& [m, n, k] : shapes) {
    for (const Transpose a : {Transpose::kNo, Transpose::kYes}) {
      for (const Transpose b : {Transpose::kNo, Transpose::kYes}) {
        ExpectTheCpusBits(
            Filled({m * k, k * n, m * n, n}),
            [&, args = Product(m, n, k, a, b)](const Kernels& kernels,
                                               const Spans& at) mutable {
              args.a = at[0].data();
              args.b = at[1].data();
              args.c = at[2].data();
              args.bias = at[3].data();
              kernels.MatMul(args);
            },
            fmt::format("{} x {} x {}", m, n, k));
      }
    }
  }
}

TEST_P(DeviceBitsTest, Convolutions) {
  const size_t samples = Size(2, 64);
  const ConvolutionShape shapes[] = {{samples, 28, 28, 1, 3, 32},
                                     {samples, 13, 13, 16, 3, 24},
                                     {3, 7, 5, 3, 2, 5},
                                     {1, 6, 6, 64, 2, 64}};
  for (const ConvolutionShape& s : shapes) {
    ExpectTheCpusBits(
        Filled({s.samples * s.height * s.width * s.channels,
                s.Taps() * s.filters, s.filters, s.Places() * s.filters,
                s.Places() * s.filters, s.Taps() * s.filters,
                s.samples * s.height * s.width * s.channels}),
        [&](const Kernels& kernels, const Spans& at) {
          kernels.Convolution(s, at[0], at[1], at[2], at[3]);
          kernels.ConvolutionKernelGradient(s, at[0], at[4], at[5]);
          kernels.ConvolutionInputGradient(s, at[4], at[1], at[6]);
        },
        fmt::format("{} channels", s.channels));
  }
}

TEST_P(DeviceBitsTest, ElementsAndUpdates) {
  for (const size_t size : {1, 255, 1025, 100'003}) {
    ExpectTheCpusBits(
        Filled({size, size, size, size, size, size}),
        [&](const Kernels& kernels, const Spans& at) {
          kernels.Adam({.step_size = 0.01f,
                        .beta1 = 0.9f,
                        .beta2 = 0.999f,
                        .epsilon = 1e-7f},
                       at[0], at[1], at[2], at[3]);
          kernels.SgdMomentum(0.1f, 0.9f, at[0], at[4], at[5]);
          kernels.Dropout(
              {.rng_key = 7, .step = 3, .columns = 63, .rate = 0.3f}, at[4],
              at[4]);
          kernels.Accumulate(at[4], at[5]);
          kernels.Scale(0.3f, at[5]);
          kernels.ClipValues(0.2f, at[5]);
        },
        fmt::format("{} elements", size));
  }
}

TEST_P(DeviceBitsTest, Activations) {
  for (const auto activation :
       {numerics::Activation::kRelu, numerics::Activation::kGelu}) {
    for (const size_t size : {1, 255, 1025, 100'003}) {
      for (int filled = 0; filled < 4; ++filled) {
        ExpectTheCpusBits(
            Filled({size, size, size, size}),
            [&](const Kernels& kernels, const Spans& at) {
              kernels.Activate(activation, at[0], at[1]);
              kernels.ActivationGradient(activation, at[0], at[2], at[3]);
              kernels.ActivationGradient(activation, at[0], at[2], at[2]);
              kernels.Activate(activation, at[0], at[0]);
            },
            fmt::format("activation {}, {} elements",
                        static_cast<int>(activation), size));
      }
    }
  }
}

TEST_P(DeviceBitsTest, DigestsOfBlocks) {
  const size_t block = 16384;
  for (const size_t size : {61, 256, 1025, 16384, 16384 + 61, 55'000}) {
    const size_t numbers = (size + block - 1) / block * 2;
    ExpectTheCpusBits(
        Filled({size, 2 * numbers}),
        [&](const Kernels& kernels, const Spans& at) {
          kernels.DigestBlocks(
              at[0], block,
              {reinterpret_cast<uint64_t*>(at[1].data()), numbers});
        },
        fmt::format("{} floats", size));
  }
}

TEST_P(DeviceBitsTest, Sums) {
  for (const size_t rows : {1, 256, 257, 5000}) {
    const size_t columns = 37;
    ExpectTheCpusBits(
        Filled({rows * columns, columns, 2}),
        [&](const Kernels& kernels, const Spans& at) {
          kernels.ColumnSums(at[0], rows, columns, at[1]);
          const float sums[] = {kernels.Sum(at[0]),
                                kernels.SumOfSquares(at[0])};
          kernels.memory().Upload(at[2].data(), sums, sizeof sums);
        },
        fmt::format("{} rows", rows));
  }
}

TEST_P(DeviceBitsTest, Losses) {
  for (const size_t rows : {1, 64, 300}) {
    const size_t classes = 10;
    std::vector<uint8_t> labels(rows);
    for (uint8_t& label : labels) label = static_cast<uint8_t>(random_() % 10);
    ExpectTheCpusBits(
        Filled({rows * classes, rows, rows * classes, rows, rows * classes, 1}),
        [&](const Kernels& kernels, const Spans& at) {
          Memory& memory = kernels.memory();
          MemoryArray<uint8_t> place(memory);
          LossArgs args = {
              .outputs = at[0],
              .labels = CopyIn(memory, std::span<const uint8_t>(labels), place),
              .classes = classes,
              .scale = 0.01f,
              .losses = at[1],
              .gradients = at[2]};
          kernels.SoftmaxCrossEntropy(args);
          args.losses = at[3];
          args.gradients = at[4];
          kernels.MeanSquaredError(args);
          const auto right = static_cast<float>(
              kernels.CountRight(at[0], args.labels, classes));
          memory.Upload(at[5].data(), &right, sizeof right);
        },
        fmt::format("{} rows", rows));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceBitsTest,
                         ::testing::Values(DeviceKind::kEmulated,
                                           DeviceKind::kCuda),
                         [](const auto& kind) {
                           return std::string(DeviceKindName(kind.param));
                         });

}  // namespace
}  // namespace gauntlet
