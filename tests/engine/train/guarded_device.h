// An emulated device whose memory only its own operations may touch: any other
// access stops the program.
#ifndef GAUNTLET_TESTS_ENGINE_TRAIN_GUARDED_DEVICE_H_
#define GAUNTLET_TESTS_ENGINE_TRAIN_GUARDED_DEVICE_H_

#include <cstddef>
#include <map>
#include <memory>

#include "engine/check.h"
#include "engine/gpu/emulated_device.h"
#include <sys/mman.h>

namespace gauntlet {

// Memory of one device: each part is allocated once, and all is freed together.
class GuardedMemory {
 public:
  GuardedMemory()
      : begin_(static_cast<char*>(
            mmap(nullptr, kBytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    CHECK(begin_ != MAP_FAILED, "mmap");
  }
  ~GuardedMemory() { munmap(begin_, kBytes); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  gpu::EmulatedMemory hooks() {
    return {.context = this,
            .allocate =
                [](void* self, size_t bytes) {
                  return static_cast<GuardedMemory*>(self)->Allocate(bytes);
                },
            .release = [](void*, void*) {},
            .open = [](void* self) { Protect(self, PROT_READ | PROT_WRITE); },
            .close = [](void* self) { Protect(self, PROT_NONE); }};
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 30;

  void* Allocate(size_t bytes) {
    char* const memory = begin_ + used_;
    used_ += (bytes + 255) / 256 * 256;
    return used_ <= kBytes ? memory : nullptr;
  }
  static void Protect(void* self, int how) {
    const auto& memory = *static_cast<GuardedMemory*>(self);
    CHECK(mprotect(memory.begin_, kBytes, how) == 0, "mprotect");
  }

  char* begin_;
  size_t used_ = 0;
};

// Like gpu::EmulatedDevice(), but with guarded memory.
inline const gpu::DeviceApi& GuardedDevice() {
  static std::map<gpu::Device*, std::unique_ptr<GuardedMemory>> memories;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.open = [](int, gpu::DeviceText*) {
      auto memory = std::make_unique<GuardedMemory>();
      gpu::Device* const device =
          gpu::OpenEmulated({.memory = memory->hooks()});
      memories.emplace(device, std::move(memory));
      return device;
    };
    table.close = [](gpu::Device* device) {
      gpu::EmulatedDevice().close(device);
      memories.erase(device);
    };
    return table;
  }();
  return api;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_TRAIN_GUARDED_DEVICE_H_
