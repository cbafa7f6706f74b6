#include "harness/cli/device_choice.h"

#include "engine/cluster/emulated_collective.h"
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

Status CheckCollective(const TrainOptions& options, int workers_here) {
  if (options.cluster.collective != CollectiveChoice::kNccl) return OkStatus();
  const DeviceKind device = options.kernels.device;
  if (device == DeviceKind::kEmulated) return OkStatus();
  if (device != DeviceKind::kCuda) {
    return InvalidArgument(fmt::format(
        "--collective nccl: expected --device cuda or emulated beside it, "
        "found {}",
        DeviceKindName(device)));
  }
  const Status nccl = OpenNccl().status();
  if (!nccl.ok()) {
    return InvalidArgument("--collective nccl: " + nccl.message());
  }
  ASSIGN_OR_RETURN(const gpu::DeviceApi* const api, OpenCuda());
  gpu::DeviceText why;
  const int devices = api->count(&why);
  if (devices >= workers_here) return OkStatus();
  return InvalidArgument(fmt::format(
      "--collective nccl: expected a device of its own for each of {} workers "
      "here, found {}",
      workers_here, devices));
}

Result<gpu::DevicePlace> PlaceOnDevice(const TrainOptions& options,
                                       int worker) {
  const DeviceKind device = options.kernels.device;
  if (device == DeviceKind::kCpu) return gpu::DevicePlace{};
  if (device == DeviceKind::kEmulated) return EmulatedPlace();
  ASSIGN_OR_RETURN(const gpu::DeviceApi* const api, OpenCuda());
  gpu::DeviceText why;
  gpu::DevicePlace place = {.api = api, .index = worker % api->count(&why)};
  // Not looked for where it is not wanted.
  if (options.cluster.collective == CollectiveChoice::kRing) return place;
  const Result<const gpu::CollectiveApi*> nccl = OpenNccl();
  if (nccl.ok()) {
    place.collective = *nccl;
  } else {
    place.no_collective = nccl.status().message();
  }
  return place;
}

}  // namespace gauntlet
