// The functions that libgauntlet_cuda.so exports.
#ifndef GAUNTLET_ENGINE_GPU_CUDA_ENTRY_H_
#define GAUNTLET_ENGINE_GPU_CUDA_ENTRY_H_

#include <cstdint>

#include "engine/gpu/collective_api.h"
#include "engine/gpu/device_api.h"

// Returns the table of devices; null if the caller was built for another ABI.
extern "C" const gauntlet::gpu::DeviceApi* gauntlet_cuda_device(uint32_t abi);

// Returns the table of collectives; null if the caller was built for another
// ABI. The library lacks this function if it was built without NCCL's header.
extern "C" const gauntlet::gpu::CollectiveApi* gauntlet_cuda_collective(
    uint32_t abi);

namespace gauntlet::gpu {

inline constexpr const char* kCudaLibrary = "libgauntlet_cuda.so";
inline constexpr const char* kCudaEntry = "gauntlet_cuda_device";
using CudaEntry = decltype(gauntlet_cuda_device);
inline constexpr const char* kCollectiveEntry = "gauntlet_cuda_collective";
using CollectiveEntry = decltype(gauntlet_cuda_collective);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_CUDA_ENTRY_H_
