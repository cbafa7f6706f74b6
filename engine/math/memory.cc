#include "engine/math/memory.h"

#include <cstring>
#include <new>

namespace gauntlet {
namespace {

class ProcessMemory final : public Memory {
 public:
  MemoryKind kind() const override { return MemoryKind::kHost; }
  // Calls the handler of std::set_new_handler if memory is exhausted.
  void* Allocate(size_t bytes) override {
    return ::operator new(bytes, kAlignment);
  }
  void* AllocateIfRoom(size_t bytes) override {
    return ::operator new(bytes, kAlignment, std::nothrow);
  }
  void Release(void* memory) override { ::operator delete(memory, kAlignment); }
  void Pin(void*, size_t) override {}
  void Unpin(void*) override {}
  void Upload(void* to, const void* from, size_t bytes) override {
    Move(to, from, bytes);
  }
  void Download(void* to, const void* from, size_t bytes) override {
    Move(to, from, bytes);
  }
  void Fetch(void* to, const void* from, size_t bytes) override {
    Move(to, from, bytes);
  }
  Status AwaitFetch() override { return OkStatus(); }
  void Copy(void* to, const void* from, size_t bytes) override {
    Move(to, from, bytes);
  }
  void Clear(void* to, size_t bytes) override {
    if (bytes > 0) std::memset(to, 0, bytes);
  }

 private:
  static constexpr std::align_val_t kAlignment{64};

  static void Move(void* to, const void* from, size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
};

}  // namespace

Memory& HostMemory() {
  static ProcessMemory memory;
  return memory;
}

}  // namespace gauntlet
