// Functions on a Device for the other files of libgauntlet_cuda.so.
#ifndef GAUNTLET_ENGINE_GPU_CUDA_DEVICE_H_
#define GAUNTLET_ENGINE_GPU_CUDA_DEVICE_H_

#include <cuda_runtime.h>

#include "engine/gpu/device_api.h"

namespace gauntlet::gpu {

// Launches the queued kernels and returns the stream of all operations so far.
cudaStream_t StreamOf(Device* device);

// Makes the device the current one of the calling thread.
cudaError_t UseDevice(const Device* device);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_CUDA_DEVICE_H_
