#include "engine/real/host/cuda_plugin.h"

#include <array>
#include <memory>
#include <string_view>

#include "engine/gpu/cuda_entry.h"
#include "engine/real/host/library_file.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

std::string LastError() {
  const char* const error = dlerror();
  return error == nullptr ? "no reason given" : error;
}

Status CheckTable(const gpu::DeviceApi* api, const std::string& file) {
  if (api == nullptr || api->abi != gpu::kDeviceAbi) {
    return InvalidArgument(fmt::format(
        "{}: expected interface {}, found {}", file, gpu::kDeviceAbi,
        api == nullptr ? "another one" : std::to_string(api->abi)));
  }
  if (api->numerics != numerics::kVersion) {
    return InvalidArgument(
        fmt::format("{}: expected version {} of the numerics, found {}", file,
                    numerics::kVersion, api->numerics));
  }
  return OkStatus();
}

}  // namespace

std::string ProgramDirectory() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view program(path.data(),
                                 size < 0 ? 0 : static_cast<size_t>(size));
  return std::string(program.substr(0, program.rfind('/')));
}

Status FindCudaDriver() {
  const Library driver(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL));
  if (driver != nullptr) return OkStatus();
  return NotFound("no CUDA driver: libcuda.so.1 does not load");
}

namespace {

Result<Library> OpenLibrary(const std::string& file) {
  RETURN_IF_ERROR(Annotate(CheckLibraryFile(file), "no CUDA library"));
  Library library(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library != nullptr) return library;
  return NotFound(fmt::format("no CUDA library: {}", LastError()));
}

std::string PluginFile() {
  return fmt::format("{}/{}", ProgramDirectory(), gpu::kCudaLibrary);
}

}  // namespace

Result<const gpu::DeviceApi*> OpenDeviceLibrary(const std::string& file) {
  ASSIGN_OR_RETURN(Library library, OpenLibrary(file));
  const auto entry =
      reinterpret_cast<gpu::CudaEntry*>(dlsym(library.get(), gpu::kCudaEntry));
  if (entry == nullptr) {
    return InvalidArgument(fmt::format("{}: expected a function {}, found none",
                                       file, gpu::kCudaEntry));
  }
  const gpu::DeviceApi* const api = entry(gpu::kDeviceAbi);
  RETURN_IF_ERROR(CheckTable(api, file));
  // Never closes the library, as CUDA's threads run its code.
  static_cast<void>(library.release());
  return api;
}

Result<const gpu::CollectiveApi*> OpenCollectiveLibrary(
    const std::string& file) {
  ASSIGN_OR_RETURN(Library library, OpenLibrary(file));
  const auto entry = reinterpret_cast<gpu::CollectiveEntry*>(
      dlsym(library.get(), gpu::kCollectiveEntry));
  if (entry == nullptr) {
    return NotFound(fmt::format("{} was built without NCCL", file));
  }
  const gpu::CollectiveApi* const api = entry(gpu::kCollectiveAbi);
  if (api == nullptr || api->abi != gpu::kCollectiveAbi) {
    return InvalidArgument(
        fmt::format("{}: expected interface {} of the collective, found "
                    "another one",
                    file, gpu::kCollectiveAbi));
  }
  gpu::DeviceText version;
  gpu::DeviceText why;
  // Never closes the library: it may have opened NCCL, which must stay open.
  static_cast<void>(library.release());
  if (api->version(&version, &why)) return api;
  return NotFound(why.text);
}

Result<const gpu::CollectiveApi*> OpenNccl() {
  return OpenCollectiveLibrary(PluginFile());
}

Result<CudaDevices> OpenCuda() {
  RETURN_IF_ERROR(FindCudaDriver());
  ASSIGN_OR_RETURN(const gpu::DeviceApi* const api,
                   OpenDeviceLibrary(PluginFile()));
  gpu::DeviceText why;
  const int count = api->count(&why);
  if (count > 0) return CudaDevices{.api = api, .count = count};
  return NotFound(
      fmt::format("no CUDA device: {}",
                  count == 0 ? "the driver has none" : std::string(why.text)));
}

}  // namespace gauntlet
