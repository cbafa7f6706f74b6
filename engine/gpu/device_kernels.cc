#include "engine/gpu/device_kernels.h"

#include <numeric>
#include <utility>
#include <vector>

#include "engine/math/operation_sizes.h"
#include <fmt/format.h>

namespace gauntlet::gpu {
namespace {

struct CloseDevice {
  const DeviceApi* api;
  void operator()(Device* device) const { api->close(device); }
};
using OpenedDevice = std::unique_ptr<Device, CloseDevice>;

class DeviceMemory final : public Memory {
 public:
  DeviceMemory(const DeviceApi& api, Device* device)
      : api_(api), device_(device) {}

  MemoryKind kind() const override { return MemoryKind::kDevice; }
  void* Allocate(size_t bytes) override {
    return api_.allocate(device_, bytes);
  }
  void* AllocateIfRoom(size_t bytes) override {
    return api_.allocate_if_room(device_, bytes);
  }
  void Release(void* memory) override { api_.release(device_, memory); }
  void Pin(void* memory, size_t bytes) override {
    api_.pin(device_, memory, bytes);
  }
  void Unpin(void* memory) override { api_.unpin(device_, memory); }
  void Upload(void* to, const void* from, size_t bytes) override {
    api_.upload(device_, to, from, bytes);
  }
  void Download(void* to, const void* from, size_t bytes) override {
    api_.download(device_, to, from, bytes);
  }
  void Fetch(void* to, const void* from, size_t bytes) override {
    CHECK(!fetching_, "one at a time");
    fetching_ = true;
    api_.fetch(device_, to, from, bytes);
  }
  Status AwaitFetch() override {
    fetching_ = false;
    DeviceText why;
    if (api_.await_fetch(device_, &why)) return OkStatus();
    return IoError(fmt::format("{} device: {}", api_.name, why.text));
  }
  void Copy(void* to, const void* from, size_t bytes) override {
    api_.copy(device_, to, from, bytes);
  }
  void Clear(void* to, size_t bytes) override {
    api_.clear(device_, to, bytes);
  }

 private:
  const DeviceApi& api_;
  Device* device_;
  bool fetching_ = false;
};

class DeviceKernels final : public Kernels {
 public:
  DeviceKernels(const DeviceApi& api, OpenedDevice device)
      : api_(api),
        opened_(std::move(device)),
        device_(opened_.get()),
        memory_(api, device_),
        result_(memory_),
        right_(memory_) {
    result_.Resize(1);
  }

  Device* device() const { return device_; }
  Isa isa() const override { return Isa::kAuto; }
  Memory& memory() const override { return memory_; }
  Status status() const override {
    const std::string_view failure = api_.failure(device_);
    if (failure.empty()) return OkStatus();
    return Unavailable(fmt::format("{} device: {}", api_.name, failure));
  }

  void MatMul(const MatMulArgs& args) const override {
    api_.mat_mul(device_, ProductOf(args));
  }

  void ColumnSums(std::span<const float> x, size_t rows, size_t columns,
                  std::span<float> out) const override {
    api_.column_sums(device_, ColumnsOf(x, rows, columns, out.size()),
                     out.data());
  }

  void Convolution(const numerics::ConvolutionShape& shape,
                   std::span<const float> x, std::span<const float> kernel,
                   std::span<const float> bias,
                   std::span<float> y) const override {
    CheckConvolution(shape, x.size(), kernel.size(), y.size());
    CheckBias(shape, bias.size());
    api_.convolution(device_,
                     {shape, x.data(), kernel.data(), bias.data(), y.data()});
  }

  void ConvolutionKernelGradient(const numerics::ConvolutionShape& shape,
                                 std::span<const float> x,
                                 std::span<const float> dy,
                                 std::span<float> gradient) const override {
    CheckConvolution(shape, x.size(), gradient.size(), dy.size());
    api_.kernel_gradient(device_,
                         {shape, x.data(), dy.data(), gradient.data()});
  }

  void ConvolutionInputGradient(const numerics::ConvolutionShape& shape,
                                std::span<const float> dy,
                                std::span<const float> kernel,
                                std::span<float> dx) const override {
    CheckConvolution(shape, dx.size(), kernel.size(), dy.size());
    api_.input_gradient(device_, {shape, dy.data(), kernel.data(), dx.data()});
  }

  void Activate(numerics::Activation activation, std::span<const float> x,
                std::span<float> y) const override {
    CheckSizes(x.size(), {y.size()});
    api_.activate(device_, activation, x.data(), y.data(), x.size());
  }

  void ActivationGradient(numerics::Activation activation,
                          std::span<const float> x, std::span<const float> dy,
                          std::span<float> dx) const override {
    CheckSizes(dx.size(), {x.size(), dy.size()});
    api_.activation_gradient(device_, activation, x.data(), dy.data(),
                             dx.data(), dx.size());
  }

  void Dropout(const DropoutArgs& args, std::span<const float> x,
               std::span<float> y) const override {
    api_.dropout(device_, DropoutRowsOf(args, x.size(), y.size()), x.data(),
                 y.data());
  }

  void Accumulate(std::span<const float> x,
                  std::span<float> acc) const override {
    CheckSizes(x.size(), {acc.size()});
    api_.accumulate(device_, x.data(), acc.data(), x.size());
  }

  void SoftmaxCrossEntropy(const LossArgs& args) const override {
    api_.cross_entropy(
        device_, LossRowsOf(args, args.losses.size(), args.gradients.size()),
        {args.losses.data(), args.gradients.data()});
  }

  void MeanSquaredError(const LossArgs& args) const override {
    api_.squared_error(
        device_, LossRowsOf(args, args.losses.size(), args.gradients.size()),
        {args.losses.data(), args.gradients.data()});
  }

  int64_t CountRight(std::span<const float> outputs,
                     std::span<const uint8_t> labels,
                     size_t classes) const override {
    const size_t rows = labels.size();
    right_.Resize(rows);
    api_.right_rows(
        device_,
        LossRowsOf({.outputs = outputs, .labels = labels, .classes = classes},
                   rows, outputs.size()),
        right_.span().data());
    right_here_.resize(rows);
    memory_.Download(right_here_.data(), right_.span().data(), rows);
    return std::accumulate(right_here_.begin(), right_here_.end(), int64_t{0});
  }

  void SubtractMeans(std::span<const float> x, std::span<const float> means,
                     std::span<float> y) const override {
    CheckSizes(x.size(), {y.size()});
    api_.subtract_means(
        device_, {x.data(), means.data(), means.size(), y.data()}, x.size());
  }

  void MovingMeans(float momentum, uint64_t rows, std::span<const float> means,
                   std::span<float> next) const override {
    CheckSizes(means.size(), {next.size()});
    api_.moving_means(device_, {momentum, rows, means.data(), next.data()},
                      means.size());
  }

  void Adam(const AdamArgs& args, std::span<const float> gradients,
            UpdatedArray parameters, UpdatedArray m,
            UpdatedArray v) const override {
    CheckSizes(parameters.size(), {gradients.size(), m.size(), v.size()});
    api_.adam(device_, RatesOf(args),
              {gradients.data(), PointersOf(parameters), PointersOf(m),
               PointersOf(v)},
              parameters.size());
  }

  void SgdMomentum(float rate, float momentum, std::span<const float> gradients,
                   UpdatedArray parameters,
                   UpdatedArray velocity) const override {
    CheckSizes(parameters.size(), {gradients.size(), velocity.size()});
    api_.sgd_momentum(device_, {rate, momentum},
                      {.gradients = gradients.data(),
                       .parameters = PointersOf(parameters),
                       .m = PointersOf(velocity)},
                      parameters.size());
  }

  void Sgd(float rate, std::span<const float> gradients,
           UpdatedArray parameters) const override {
    CheckSizes(parameters.size(), {gradients.size()});
    api_.sgd(
        device_, rate,
        {.gradients = gradients.data(), .parameters = PointersOf(parameters)},
        parameters.size());
  }

  float Sum(std::span<const float> x) const override {
    api_.sum(device_, x.data(), x.size(), result_.span().data());
    return Result();
  }

  float SumOfSquares(std::span<const float> x) const override {
    api_.sum_of_squares(device_, x.data(), x.size(), result_.span().data());
    return Result();
  }

  void Scale(float factor, std::span<float> x) const override {
    api_.scale(device_, factor, x.data(), x.size());
  }

  void ClipValues(float limit, std::span<float> x) const override {
    api_.clip_values(device_, limit, x.data(), x.size());
  }

  void DigestBlocks(std::span<const float> x, size_t block_floats,
                    std::span<uint64_t> digests) const override {
    CheckDigestBlocks(x.size(), block_floats, digests.size());
    api_.digest_blocks(device_,
                       {.words = reinterpret_cast<const uint32_t*>(x.data()),
                        .bytes = x.size_bytes(),
                        .block_bytes = block_floats * sizeof(float),
                        .canonical_nans = true,
                        .digests = digests.data()});
  }

 private:
  float Result() const {
    float result = 0.0f;
    memory_.Download(&result, result_.span().data(), sizeof result);
    return result;
  }

  const DeviceApi& api_;
  const OpenedDevice opened_;
  Device* const device_;
  // Mutable, as const operations use them as buffers; callers do not see these.
  mutable DeviceMemory memory_;
  mutable MemoryArray<float> result_;
  mutable MemoryArray<uint8_t> right_;
  mutable std::vector<uint8_t> right_here_;
};

}  // namespace

Device* Open(const DevicePlace& place, DeviceText* why) {
  return place.open ? place.open(place.index, why)
                    : place.api->open(place.index, why);
}

gauntlet::Result<std::unique_ptr<Kernels>> OpenDevice(const DevicePlace& place,
                                                      Math math) {
  DeviceText why;
  Device* const device = Open(place, &why);
  if (device == nullptr) {
    return Unavailable(fmt::format("{} device {}: {}", place.api->name,
                                   place.index, std::string_view(why.text)));
  }
  const DeviceApi& api = *place.api;
  OpenedDevice opened(device, CloseDevice{&api});
  if (math != Math::kCanonical &&
      !api.use_library(device,
                       math == Math::kFast ? LibraryProducts::kFloat32
                                           : LibraryProducts::kTensorFloat32,
                       &why)) {
    return InvalidArgument(fmt::format("--math {}: {}", MathName(math),
                                       std::string_view(why.text)));
  }
  return KernelsOn(api, opened.release());
}

std::unique_ptr<Kernels> KernelsOn(const DeviceApi& api, Device* device) {
  return std::make_unique<DeviceKernels>(
      api, OpenedDevice(device, CloseDevice{&api}));
}

Device* DeviceOf(const Kernels& kernels) {
  const auto* const on_device = dynamic_cast<const DeviceKernels*>(&kernels);
  return on_device == nullptr ? nullptr : on_device->device();
}

}  // namespace gauntlet::gpu
