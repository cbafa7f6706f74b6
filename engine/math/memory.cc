#include "engine/math/memory.h"

#include <cstdlib>
#include <cstring>

namespace gauntlet {
namespace {

class ProcessMemory final : public Memory {
 public:
  MemoryKind kind() const override { return MemoryKind::kHost; }
  void* Allocate(size_t bytes) override {
    constexpr size_t kAlignment = 64;
    void* const memory = std::aligned_alloc(
        kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
    CHECK(memory != nullptr, "out of memory for an array");
    return memory;
  }
  void Release(void* memory) override { std::free(memory); }
  void Upload(void* to, const void* from, size_t bytes) override {
    Move(to, from, bytes);
  }
  void Download(void* to, const void* from, size_t bytes) override {
    Move(to, from, bytes);
  }
  void Copy(void* to, const void* from, size_t bytes) override {
    Move(to, from, bytes);
  }
  void Clear(void* to, size_t bytes) override {
    if (bytes > 0) std::memset(to, 0, bytes);
  }

 private:
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
