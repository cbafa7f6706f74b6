// Kernels on a device: the arrays lie there, the operations are its own.
#ifndef GAUNTLET_ENGINE_GPU_DEVICE_KERNELS_H_
#define GAUNTLET_ENGINE_GPU_DEVICE_KERNELS_H_

#include <functional>
#include <memory>
#include <string>

#include "engine/gpu/collective_api.h"
#include "engine/gpu/device_api.h"
#include "engine/math/kernels.h"
#include "engine/status.h"

namespace gauntlet::gpu {

// Which device a worker computes on, and its way to other workers' devices.
struct DevicePlace {
  const DeviceApi* api = nullptr;  // null: none
  std::string no_device = {};      // why, where there should be one
  int index = 0;
  const CollectiveApi* collective = nullptr;  // null: none
  std::string no_collective = {};             // why
  // In place of the table's own, where somebody stands between.
  std::function<Device*(int index, DeviceText* why)> open = nullptr;
};
Device* Open(const DevicePlace& place, DeviceText* why);

// kUnavailable: the device does not open, and why. kInvalidArgument: it has no
// such products. Labels are not looked at: who brings them here knows that they
// are below the number of classes. The table outlives the kernels.
Result<std::unique_ptr<Kernels>> OpenDevice(const DevicePlace& place,
                                            Math math = Math::kCanonical);

// Kernels on a device that `api` has opened; they close it.
std::unique_ptr<Kernels> KernelsOn(const DeviceApi& api, Device* device);

// Returns the device of the kernels; null: they use none.
Device* DeviceOf(const Kernels& kernels);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_DEVICE_KERNELS_H_
