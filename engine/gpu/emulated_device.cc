// Compiled for FMA3, as engine/math/scalar.cc is, and like it without the
// standard library's inline functions.
#include "engine/gpu/emulated_device.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "engine/gpu/device_table.h"

namespace gauntlet::gpu {

// A Runtime (operations.h).
struct Device {
  EmulatedMemory memory;
  unsigned multiprocessor_count = 0;
  RunOrder order = RunOrder::kForward;
  float* scratch = nullptr;
  size_t scratch_floats = 0;
  void* shared = nullptr;
  size_t shared_bytes = 0;
  const char* failed = "";

  bool ready() const { return *failed == '\0'; }
  unsigned multiprocessors() const { return multiprocessor_count; }

  void* Allocate(size_t bytes) {
    void* const found = memory.allocate(memory.context, bytes);
    if (found == nullptr && ready()) failed = "device memory: there is no more";
    return found;
  }

  float* Scratch(size_t floats) {
    if (floats > scratch_floats) {
      if (scratch != nullptr) memory.release(memory.context, scratch);
      scratch = static_cast<float*>(Allocate(floats * sizeof(float)));
      scratch_floats = scratch == nullptr ? 0 : floats;
    }
    return scratch;
  }

  template <typename Kernel>
  void Launch(const Kernel& kernel, const Grid& grid, size_t bytes) {
    if (bytes > shared_bytes) {
      std::free(shared);
      shared = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      if (shared == nullptr) std::abort();
      shared_bytes = bytes;
    }
    // A block finds what another one left: not zeros.
    if (bytes > 0) std::memset(shared, 0xff, bytes);
    memory.open(memory.context);
    RunKernel(kernel, grid, shared, order);
    memory.close(memory.context);
  }

  void Move(void* to, const void* from, size_t bytes) {
    if (bytes == 0 || !ready()) return;
    memory.open(memory.context);
    std::memcpy(to, from, bytes);
    memory.close(memory.context);
  }
};

namespace {

void* AllocateOnHost(void*, size_t bytes) {
  return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
}
void ReleaseOnHost(void*, void* memory) { std::free(memory); }
void NothingToDo(void*) {}

int Count(DeviceText*) { return 1; }

bool Describe(int index, DeviceInfo* info, DeviceText* why) {
  if (index != 0) {
    std::strcpy(why->text, "expected device 0: there is one emulated device");
    return false;
  }
  std::strcpy(info->name.text, "emulated on the CPU");
  info->multiprocessors = EmulatedOptions().multiprocessors;
  return true;
}

Device* Open(int index, DeviceText* why) {
  DeviceInfo info;
  return Describe(index, &info, why) ? OpenEmulated({}) : nullptr;
}

void Close(Device* device) {
  if (device->scratch != nullptr) {
    device->memory.release(device->memory.context, device->scratch);
  }
  std::free(device->shared);
  device->~Device();
  std::free(device);
}

DeviceApi Table() {
  DeviceApi api = {};
  api.abi = kDeviceAbi;
  api.numerics = numerics::kVersion;
  api.name = "emulated";
  api.count = Count;
  api.describe = Describe;
  api.open = Open;
  api.close = Close;
  api.failure = [](Device* device) { return device->failed; };
  api.use_library = [](Device*, LibraryProducts, DeviceText* why) {
    std::strcpy(why->text, "the emulated device has no library's products");
    return false;
  };
  api.allocate = [](Device* device, size_t bytes) {
    return device->Allocate(bytes);
  };
  api.release = [](Device* device, void* memory) {
    device->memory.release(device->memory.context, memory);
  };
  // It is all one memory.
  api.pin = [](Device*, void*, size_t) {};
  api.unpin = [](Device*, void*) {};
  api.upload = [](Device* device, void* to, const void* from, size_t bytes) {
    device->Move(to, from, bytes);
  };
  api.copy = api.upload;
  api.download = [](Device* device, void* to, const void* from, size_t bytes) {
    if (bytes > 0 && !device->ready()) std::memset(to, 0, bytes);
    device->Move(to, from, bytes);
  };
  api.clear = [](Device* device, void* to, size_t bytes) {
    if (bytes == 0 || !device->ready()) return;
    device->memory.open(device->memory.context);
    std::memset(to, 0, bytes);
    device->memory.close(device->memory.context);
  };
  AddOperations<Device>(api);
  return api;
}

}  // namespace

EmulatedMemory HostMemoryOfDevice() {
  return {.context = nullptr,
          .allocate = AllocateOnHost,
          .release = ReleaseOnHost,
          .open = NothingToDo,
          .close = NothingToDo};
}

Device* OpenEmulated(const EmulatedOptions& options) {
  void* const place = std::malloc(sizeof(Device));
  if (place == nullptr) std::abort();
  return new (place) Device{.memory = options.memory,
                            .multiprocessor_count = options.multiprocessors,
                            .order = options.order};
}

const DeviceApi& EmulatedDevice() {
  static const DeviceApi api = Table();
  return api;
}

}  // namespace gauntlet::gpu
