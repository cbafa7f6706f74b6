// Functions that the files of libgauntlet_cuda.so use on each other's Device.
#ifndef GAUNTLET_ENGINE_GPU_CUDA_DEVICE_H_
#define GAUNTLET_ENGINE_GPU_CUDA_DEVICE_H_

#include <cuda_runtime.h>

#include "engine/gpu/device_api.h"

namespace gauntlet::gpu {

// Stream of all the device's operations so far, which run in this order.
cudaStream_t StreamOf(Device* device);

// Makes it this thread's device.
cudaError_t UseDevice(const Device* device);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_CUDA_DEVICE_H_
