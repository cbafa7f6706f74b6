#include "engine/train/loop/job_model.h"

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Maximum number of floats in the replicas' own states, which all ranks
// exchange in every step.
constexpr uint64_t kMaxReplicaState = uint64_t{1} << 24;

Result<std::unique_ptr<Kernels>> MakeKernels(const KernelOptions& options,
                                             const gpu::DevicePlace& place) {
  if (options.device == DeviceKind::kCpu) return Kernels::Create(options);
  if (!place.no_device.empty()) return Unavailable(place.no_device);
  if (place.api == nullptr || options.device == DeviceKind::kAuto) {
    return InvalidArgument(
        fmt::format("device: expected cpu where none was opened, found {}",
                    DeviceKindName(options.device)));
  }
  return gpu::OpenDevice(place, options.math);
}

}  // namespace

Result<JobModel> BuildJobModel(const JobSpec& job, const SampleShape& sample,
                               uint32_t classes, const KernelOptions& options,
                               const gpu::DevicePlace& place) {
  JobModel built;
  ASSIGN_OR_RETURN(built.kernels, MakeKernels(options, place));
  if (built.kernels->memory().kind() != MemoryKind::kHost) {
    KernelOptions host = options;
    host.device = DeviceKind::kCpu;
    host.math = Math::kCanonical;
    ASSIGN_OR_RETURN(built.host_kernels, Kernels::Create(host));
  }
  ASSIGN_OR_RETURN(built.model,
                   Model::Build(job.model, sample, classes, *built.kernels));
  const uint64_t replica_state =
      built.model->replica_state_size() * static_cast<uint64_t>(job.replicas);
  if (replica_state > kMaxReplicaState) {
    return InvalidArgument(fmt::format(
        "model.layers: expected at most {} floats that all replicas keep for "
        "themselves, found {}",
        kMaxReplicaState, replica_state));
  }
  built.optimizer = Optimizer::Build(job.optimizer, *built.kernels);
  RETURN_IF_ERROR(built.kernels->status());
  return built;
}

}  // namespace gauntlet
