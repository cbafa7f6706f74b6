// Kernels on a device: arrays in its memory, operations of its table.
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

// Device that a worker computes on, and its collective with other devices.
struct DevicePlace {
  const DeviceApi* api = nullptr;  // null: none
  std::string no_device = {};      // the reason, if `api` is null
  int index = 0;
  const CollectiveApi* collective = nullptr;  // null: none
  std::string no_collective = {};  // the reason, if `collective` is null
  // Called instead of api->open, for example by a decorator of the table; null:
  // api->open is called.
  std::function<Device*(int index, DeviceText* why)> open = nullptr;
};
Device* Open(const DevicePlace& place, DeviceText* why);

// Opens the device and returns kernels on it. kUnavailable: the device cannot
// be opened. kInvalidArgument: it does not support `math`. Labels are not
// checked: the caller ensures that they are below the number of classes. The
// table outlives the kernels.
Result<std::unique_ptr<Kernels>> OpenDevice(const DevicePlace& place,
                                            Math math = Math::kCanonical);

// Returns kernels on a device that `api` has opened. The kernels close the
// device.
std::unique_ptr<Kernels> KernelsOn(const DeviceApi& api, Device* device);

// Returns the device that the kernels use; null if they use none.
Device* DeviceOf(const Kernels& kernels);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_DEVICE_KERNELS_H_
