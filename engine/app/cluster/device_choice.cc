#include "engine/app/cluster/device_choice.h"

#include "engine/cluster/ring/emulated_collective.h"
#include "engine/real/host/cuda_plugin.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

// Returns kInvalidArgument if the device does not support --math.
Status CheckMath(const KernelOptions& options) {
  const DeviceKind device = options.device;
  const bool has_them =
      options.math == Math::kCanonical || device == DeviceKind::kCuda ||
      (options.math == Math::kFast && device == DeviceKind::kCpu);
  if (has_them) return OkStatus();
  return InvalidArgument(fmt::format(
      "--math {} requires --device cuda{}, found {}", MathName(options.math),
      options.math == Math::kFast ? " or cpu" : "", DeviceKindName(device)));
}

// Replaces kAuto by CUDA if this machine has it, else by the CPU.
// kInvalidArgument: CUDA was requested and is not available.
Status ChooseDevice(KernelOptions& options, Console& console) {
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

Status ResolveDevice(KernelOptions& options, Console& console) {
  RETURN_IF_ERROR(ChooseDevice(options, console));
  return CheckMath(options);
}

Status CheckCollective(const TrainOptions& options, int workers_here) {
  if (options.cluster.collective != CollectiveChoice::kNccl) return OkStatus();
  const DeviceKind device = options.kernels.device;
  if (device == DeviceKind::kEmulated) return OkStatus();
  if (device != DeviceKind::kCuda) {
    return InvalidArgument(
        fmt::format("--collective nccl requires --device cuda or emulated, "
                    "found {}",
                    DeviceKindName(device)));
  }
  const Status nccl = OpenNccl().status();
  if (!nccl.ok()) {
    return InvalidArgument("--collective nccl: " + nccl.message());
  }
  ASSIGN_OR_RETURN(const CudaDevices cuda, OpenCuda());
  if (cuda.count >= workers_here) return OkStatus();
  return InvalidArgument(fmt::format(
      "--collective nccl: expected a device of its own for each of {} workers "
      "here, found {}",
      workers_here, cuda.count));
}

gpu::DevicePlace PlaceOnDevice(const TrainOptions& options, int worker) {
  const DeviceKind device = options.kernels.device;
  if (device == DeviceKind::kCpu) return {};
  if (device == DeviceKind::kEmulated) return EmulatedPlace();
  const Result<CudaDevices> cuda = OpenCuda();
  if (!cuda.ok()) return {.no_device = cuda.status().message()};
  gpu::DevicePlace place = {.api = cuda->api, .index = worker % cuda->count};
  // If the ring was requested, does not open NCCL.
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
