// CUDA, if this machine has it. The library next to the program is opened on
// request, and only if the machine has a driver. The program itself links no
// CUDA library.
#ifndef GAUNTLET_ENGINE_REAL_HOST_CUDA_PLUGIN_H_
#define GAUNTLET_ENGINE_REAL_HOST_CUDA_PLUGIN_H_

#include <string>

#include "engine/gpu/collective_api.h"
#include "engine/gpu/device_api.h"
#include "engine/status.h"

namespace gauntlet {

// Returns the directory of this program, which also holds libgauntlet_cuda.so.
std::string ProgramDirectory();

// Returns kNotFound if libcuda.so.1 cannot be loaded. Loads nothing else.
Status FindCudaDriver();

// Opens a library like libgauntlet_cuda.so, keeps it open until the process
// ends, and returns its function table. kNotFound: the library cannot be
// opened. kInvalidArgument: the file is no such library, or is of another
// build.
Result<const gpu::DeviceApi*> OpenDeviceLibrary(const std::string& file);

// Returns NCCL's function table from the same library. kNotFound: the library
// was built without NCCL, or NCCL's own library cannot be loaded or is too old.
// Other codes: as OpenDeviceLibrary's.
Result<const gpu::CollectiveApi*> OpenCollectiveLibrary(
    const std::string& file);

// Opens the collective library in the program's directory.
Result<const gpu::CollectiveApi*> OpenNccl();

struct CudaDevices {
  const gpu::DeviceApi* api = nullptr;
  int count = 0;  // >= 1
};

// Opens the device library in the program's directory. kNotFound: the machine
// has no driver or no device. Other codes: as OpenDeviceLibrary's.
Result<CudaDevices> OpenCuda();

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_HOST_CUDA_PLUGIN_H_
