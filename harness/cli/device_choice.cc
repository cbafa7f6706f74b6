#include "harness/cli/device_choice.h"

#include "engine/gpu/emulated_device.h"
#include "engine/real/cuda_plugin.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

// What computes has the products that were asked for.
Status CheckMath(const KernelOptions& options) {
  const DeviceKind device = options.device;
  const bool has_them =
      options.math == Math::kCanonical || device == DeviceKind::kCuda ||
      (options.math == Math::kFast && device == DeviceKind::kCpu);
  if (has_them) return OkStatus();
  return InvalidArgument(fmt::format(
      "--math {}: expected --device cuda{} beside it, found {}",
      MathName(options.math), options.math == Math::kFast ? " or cpu" : "",
      DeviceKindName(device)));
}

// Of kAuto, what is there.
Status Choose(KernelOptions& options, Console& console) {
  const bool automatic = options.device == DeviceKind::kAuto;
  if (!automatic && options.device != DeviceKind::kCuda) return OkStatus();
  const Status cuda = OpenCuda().status();
  if (!automatic) {
    return cuda.ok() ? cuda
                     : InvalidArgument("--device cuda: " + cuda.message());
  }
  options.device = cuda.ok() ? DeviceKind::kCuda : DeviceKind::kCpu;
  fmt::print(console.err, "device: {}\n",
             cuda.ok() ? "cuda" : fmt::format("cpu ({})", cuda.message()));
  console.err << std::flush;
  return OkStatus();
}

}  // namespace

Status SettleDevice(KernelOptions& options, Console& console) {
  RETURN_IF_ERROR(Choose(options, console));
  return CheckMath(options);
}

Result<gpu::DevicePlace> PlaceOnDevice(const KernelOptions& options,
                                       int worker) {
  if (options.device == DeviceKind::kCpu) return gpu::DevicePlace{};
  if (options.device == DeviceKind::kEmulated) {
    return gpu::DevicePlace{.api = &gpu::EmulatedDevice(), .index = 0};
  }
  ASSIGN_OR_RETURN(const gpu::DeviceApi* const api, OpenCuda());
  gpu::DeviceText why;
  return gpu::DevicePlace{.api = api, .index = worker % api->count(&why)};
}

}  // namespace gauntlet
