// This file is compiled for FMA3. So, like engine/math/scalar.cc, it uses no
// inline functions of the standard library (isa_kernels.h).
#include "engine/gpu/emulated_device.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "engine/gpu/device_table.h"
#include "engine/gpu/kernel_queue.h"

namespace gauntlet::gpu {
namespace {

using RunValues = void (*)(const void* values, const Grid& grid, void* shared,
                           RunOrder order);
template <typename Kernel>
void RunKernelOf(const void* values, const Grid& grid, void* shared,
                 RunOrder order) {
  RunKernel(*static_cast<const Kernel*>(values), grid, shared, order);
}

// A Backend of KernelQueue. A graph is a copy of its launches.
class Launcher {
 public:
  struct Graph {
    KernelLaunch* launches;
    size_t count;
  };

  Launcher(const EmulatedMemory& memory, RunOrder order)
      : memory_(memory), order_(order) {}
  ~Launcher() { std::free(shared_); }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  void Launch(const KernelLaunch& launch) {
    const size_t bytes = launch.shared_bytes;
    if (bytes > shared_bytes_) {
      std::free(shared_);
      shared_ = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      if (shared_ == nullptr) std::abort();
      shared_bytes_ = bytes;
    }
    // As on a device, shared memory is not zero at the start of a block.
    if (bytes > 0) std::memset(shared_, 0xff, bytes);
    memory_.open(memory_.context);
    reinterpret_cast<RunValues>(const_cast<void*>(launch.kernel))(
        launch.values, launch.grid, shared_, order_);
    memory_.close(memory_.context);
  }

  Graph* Build(const KernelLaunch* launches, size_t count) {
    const size_t bytes = count * sizeof(KernelLaunch);
    auto* const graph = static_cast<Graph*>(std::malloc(sizeof(Graph)));
    void* const copy = std::malloc(bytes);
    if (graph == nullptr || copy == nullptr) std::abort();
    std::memcpy(copy, launches, bytes);
    *graph = {.launches = static_cast<KernelLaunch*>(copy), .count = count};
    return graph;
  }
  bool Change(Graph* graph, size_t index, const KernelLaunch& launch) {
    graph->launches[index] = launch;
    return true;
  }
  void LaunchGraph(Graph* graph) {
    for (size_t i = 0; i < graph->count; ++i) Launch(graph->launches[i]);
  }
  void Destroy(Graph* graph) {
    std::free(graph->launches);
    std::free(graph);
  }

 private:
  const EmulatedMemory memory_;
  const RunOrder order_;
  void* shared_ = nullptr;
  size_t shared_bytes_ = 0;
};

}  // namespace

// A Runtime (operations.h).
struct Device {
  explicit Device(const EmulatedOptions& options)
      : memory(options.memory),
        multiprocessor_count(options.multiprocessors),
        launcher(options.memory, options.order) {}

  EmulatedMemory memory;
  unsigned multiprocessor_count = 0;
  Launcher launcher;
  KernelQueue<Launcher> queue{launcher};
  float* scratch = nullptr;
  size_t scratch_floats = 0;
  // The fetch in progress. AwaitFetch makes the copy, as late as the interface
  // allows, so that tests detect operations that change the values too early.
  struct {
    void* to = nullptr;
    const void* from = nullptr;
    size_t bytes = 0;
    bool begun = false;
  } fetched;
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
      queue.Flush();
      if (scratch != nullptr) memory.release(memory.context, scratch);
      scratch = static_cast<float*>(Allocate(floats * sizeof(float)));
      scratch_floats = scratch == nullptr ? 0 : floats;
    }
    return scratch;
  }

  template <typename Kernel>
  void Launch(const Kernel& kernel, const Grid& grid, size_t bytes) {
    const RunValues function = RunKernelOf<Kernel>;
    queue.Add(KernelLaunch::Of(reinterpret_cast<const void*>(function), kernel,
                               grid, bytes));
  }

  void Move(void* to, const void* from, size_t bytes) {
    queue.Flush();
    if (bytes > 0 && ready()) MoveAnyway(to, from, bytes);
  }
  void MoveAnyway(void* to, const void* from, size_t bytes) {
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
  device->queue.Drop();
  device->~Device();
  std::free(device);
}

void Fetch(Device* device, void* to, const void* from, size_t bytes) {
  device->queue.Flush();
  device->fetched = {
      .to = to, .from = from, .bytes = bytes, .begun = device->ready()};
}

// Does not record a failure in `device`, which another task may be using.
bool AwaitFetch(Device* device, DeviceText* why) {
  auto& fetched = device->fetched;
  if (!fetched.begun) {
    std::strcpy(why->text, device->failed);
    return false;
  }
  fetched.begun = false;
  if (fetched.bytes > 0) {
    device->MoveAnyway(fetched.to, fetched.from, fetched.bytes);
  }
  return true;
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
  api.failure = [](Device* device) {
    device->queue.Flush();
    return device->failed;
  };
  api.use_library = [](Device*, LibraryProducts, DeviceText* why) {
    std::strcpy(why->text, "the emulated device has no library's products");
    return false;
  };
  api.allocate = [](Device* device, size_t bytes) {
    return device->Allocate(bytes);
  };
  api.allocate_if_room = [](Device* device, size_t bytes) {
    return device->ready()
               ? device->memory.allocate(device->memory.context, bytes)
               : nullptr;
  };
  api.release = [](Device* device, void* memory) {
    device->queue.Flush();
    device->memory.release(device->memory.context, memory);
  };
  // Device and host have the same memory.
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
  api.fetch = Fetch;
  api.await_fetch = AwaitFetch;
  api.clear = [](Device* device, void* to, size_t bytes) {
    device->queue.Flush();
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
  return new (place) Device(options);
}

const DeviceApi& EmulatedDevice() {
  static const DeviceApi api = Table();
  return api;
}

}  // namespace gauntlet::gpu
