// The one function that libgauntlet_cuda.so shows.
#ifndef GAUNTLET_ENGINE_GPU_CUDA_ENTRY_H_
#define GAUNTLET_ENGINE_GPU_CUDA_ENTRY_H_

#include <cstdint>

#include "engine/gpu/device_api.h"

// The table, for who was built for this ABI; null for anybody else.
extern "C" const gauntlet::gpu::DeviceApi* gauntlet_cuda_device(uint32_t abi);

namespace gauntlet::gpu {

inline constexpr const char* kCudaLibrary = "libgauntlet_cuda.so";
inline constexpr const char* kCudaEntry = "gauntlet_cuda_device";
using CudaEntry = decltype(gauntlet_cuda_device);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_CUDA_ENTRY_H_
