// A device that is none: the kernels' own source, run on the host block by
// block and thread by thread. Its bits are a device's, its speed is not: it
// shows what can be shown of the device's side where there is no device.
#ifndef GAUNTLET_ENGINE_GPU_EMULATED_DEVICE_H_
#define GAUNTLET_ENGINE_GPU_EMULATED_DEVICE_H_

#include "engine/gpu/device_api.h"
#include "engine/gpu/launch.h"

namespace gauntlet::gpu {

// One device of this kind, always there.
const DeviceApi& EmulatedDevice();

// Memory for the device's arrays. Tests pass their own to see that nothing else
// follows its pointers: between two operations the memory is closed.
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
  // Products are split by this number: as many as an H100 has.
  unsigned multiprocessors = 132;
  RunOrder order = RunOrder::kForward;
};
// Like EmulatedDevice().open(0, …), for tests. The objects that the options
// point to outlive the device.
Device* OpenEmulated(const EmulatedOptions& options);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_EMULATED_DEVICE_H_
