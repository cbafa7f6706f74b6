#include "harness/cli/device_choice.h"

#include "engine/gpu/emulated_device.h"
#include "engine/real/cuda_plugin.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {

Status SettleDevice(KernelOptions& options, Console& console) {
  if (options.device == DeviceKind::kCpu) return OkStatus();
  const bool automatic = options.device == DeviceKind::kAuto;
  if (options.math == Math::kFast) {
    if (!automatic) {
      return InvalidArgument(
          "--math fast: expected --device cpu beside it: products of another "
          "library are the CPU's only");
    }
    options.device = DeviceKind::kCpu;
    return OkStatus();
  }
  if (options.device == DeviceKind::kEmulated) return OkStatus();
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
