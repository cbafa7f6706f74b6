#include "harness/scenario/requirements.h"

#include <algorithm>

#include "engine/train/launcher/launcher.h"
#include <fmt/format.h>

namespace gauntlet {

std::string_view WorldKindName(WorldKind world) {
  return world == WorldKind::kSimulated ? "sim" : "real";
}

Capabilities CapabilitiesOf(WorldKind world) {
  Capabilities here = {.world = world};
  here.features = world == WorldKind::kSimulated
                      ? std::vector<std::string>{"power_loss", "simulation"}
                      : std::vector<std::string>{"processes"};
  return here;
}

bool HasDevice(const Case& one) {
  return ComputesOn(one.train.kernels, DeviceKind::kCuda) ||
         ComputesOn(one.train.kernels, DeviceKind::kEmulated);
}

bool LacksDeviceForNccl(const Case& one) {
  return one.train.cluster.collective == CollectiveChoice::kNccl &&
         ComputesOn(one.train.kernels, DeviceKind::kCpu);
}

namespace {

// Returns the reason to skip the case because a device is missing; "" if there
// is none.
std::string WhyNotOnDevice(const Case& one, const Capabilities& here) {
  const bool cuda = ComputesOn(one.train.kernels, DeviceKind::kCuda);
  if (cuda && here.world == WorldKind::kSimulated) {
    return "needs a GPU, and the simulated world has the emulated device only";
  }
  if (cuda && here.gpus == 0) return "needs a GPU, found none";
  if (LacksDeviceForNccl(one)) {
    return "collective nccl needs devices, and an attempt computes on the CPU";
  }
  if (one.train.cluster.collective == CollectiveChoice::kNccl && cuda &&
      here.gpus < one.cluster.workers) {
    return fmt::format(
        "collective nccl needs a GPU for each of {} workers, "
        "found {}",
        one.cluster.workers, here.gpus);
  }
  if (!ComputesOn(one.train.kernels, DeviceKind::kCpu) &&
      std::ranges::find(one.plan.bugs, PlantedBug::kWriteLiveState) !=
          one.plan.bugs.end()) {
    return "write-live-state: a device's training leaves the host's state "
           "alone";
  }
  if (HasDevice(one)) return "";
  for (const Fault& fault : one.plan.faults) {
    if (!IsOfDevice(fault.kind) &&
        InfoOf(fault.site.point).needs != PointNeeds::kDevice) {
      continue;
    }
    return fmt::format("{}: happens to a device, and there is none on {}",
                       fault.id, DeviceKindName(one.train.kernels.device));
  }
  return "";
}

}  // namespace

std::string WhyNotHere(const Case& one, const Capabilities& here) {
  if (one.trainer && here.world == WorldKind::kSimulated)
    return "a training program of your own runs in real processes only";
  if (one.needs.gpus > here.gpus) {
    return fmt::format(
        "needs {}, found {}",
        one.needs.gpus == 1 ? "a GPU" : fmt::format("{} GPUs", one.needs.gpus),
        here.gpus);
  }
  if (one.needs.disk_bytes > here.disk_bytes) {
    return fmt::format("needs {} bytes of disk, found {}", one.needs.disk_bytes,
                       here.disk_bytes);
  }
  for (const std::string& feature : one.needs.features) {
    if (std::find(here.features.begin(), here.features.end(), feature) ==
        here.features.end()) {
      return fmt::format("needs {}, which this world does not have", feature);
    }
  }
  if (std::string why = WhyNotOnDevice(one, here); !why.empty()) return why;
  if (here.world == WorldKind::kSimulated) return "";
  if (one.cluster.hosts == HostsChoice::kSeparate) {
    return "needs separate hosts; real workers are on this one";
  }
  if (one.cluster.workers > kMaxLocalWorkers) {
    return fmt::format(
        "needs {} worker processes, more than the {} that this "
        "program starts on one machine",
        one.cluster.workers, kMaxLocalWorkers);
  }
  if (one.cluster.link != NetworkLatency()) {
    return "only the simulated world has link latencies (cluster.link)";
  }
  if (one.cluster.step_time > Duration::zero()) {
    return "only the simulated world has cluster.step_time";
  }
  if (one.disk != DurabilityProfile::kExt4) {
    return fmt::format("only the simulated world has disks of profile {}",
                       ProfileName(one.disk));
  }
  if (one.disk_capacity != Case().disk_capacity) {
    return "only the simulated world has disks of limited size";
  }
  for (const Fault& fault : one.plan.faults) {
    const std::string_view why = SimOnlyReason(fault);
    if (!why.empty()) return fmt::format("{}: {}", fault.id, why);
  }
  return "";
}

}  // namespace gauntlet
