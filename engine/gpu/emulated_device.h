// An emulated device: runs the source of the kernels on the host, block by
// block and thread by thread. Its results have the same bits as a real
// device's, but it is slow. It is for tests of device code on machines without
// a device.
#ifndef GAUNTLET_ENGINE_GPU_EMULATED_DEVICE_H_
#define GAUNTLET_ENGINE_GPU_EMULATED_DEVICE_H_

#include "engine/gpu/device_api.h"
#include "engine/gpu/launch.h"

namespace gauntlet::gpu {

// Table with one emulated device, which is always available.
const DeviceApi& EmulatedDevice();

// Memory for the device's arrays. Tests pass memory that is accessible only
// during an operation, to detect any other access.
struct EmulatedMemory {
  void* context = nullptr;
  void* (*allocate)(void* context, size_t bytes) = nullptr;  // null: none left
  void (*release)(void* context, void* memory) = nullptr;
  void (*open)(void* context) = nullptr;
  void (*close)(void* context) = nullptr;
};
EmulatedMemory HostMemoryOfDevice();

struct EmulatedOptions {
  EmulatedMemory memory = HostMemoryOfDevice();
  // Number of multiprocessors, as in an H100. It determines how products are
  // split into blocks.
  unsigned multiprocessors = 132;
  RunOrder order = RunOrder::kForward;
};
// Like EmulatedDevice().open(0, …), for tests. The objects that the options
// point to must outlive the device.
Device* OpenEmulated(const EmulatedOptions& options);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_EMULATED_DEVICE_H_
