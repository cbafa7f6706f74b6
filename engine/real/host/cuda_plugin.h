// CUDA, where this machine has it: the library beside the program is opened
// when it is asked for, and only where there is a driver to use it with. The
// program itself needs no CUDA library.
#ifndef GAUNTLET_ENGINE_REAL_HOST_CUDA_PLUGIN_H_
#define GAUNTLET_ENGINE_REAL_HOST_CUDA_PLUGIN_H_

#include <string>

#include "engine/gpu/collective_api.h"
#include "engine/gpu/device_api.h"
#include "engine/status.h"

namespace gauntlet {

// Directory of this program, with libgauntlet_cuda.so beside it.
std::string ProgramDirectory();

// kNotFound: libcuda.so.1 does not load. Loads nothing else.
Status FindCudaDriver();

// Opens a library like libgauntlet_cuda.so until the process ends, and returns
// its function table. kNotFound: the library cannot be opened.
// kInvalidArgument: the file is no such library, or is of another build.
Result<const gpu::DeviceApi*> OpenDeviceLibrary(const std::string& file);

// NCCL's table out of the same library. kNotFound: it was built without, or
// NCCL's own library does not load, or is too old; other codes as above.
Result<const gpu::CollectiveApi*> OpenCollectiveLibrary(
    const std::string& file);

// Beside this program.
Result<const gpu::CollectiveApi*> OpenNccl();

struct CudaDevices {
  const gpu::DeviceApi* api = nullptr;
  int count = 0;  // >= 1
};

// The library beside this program, on a machine that has a driver and a device;
// kNotFound: it has none; other codes as above.
Result<CudaDevices> OpenCuda();

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_HOST_CUDA_PLUGIN_H_
