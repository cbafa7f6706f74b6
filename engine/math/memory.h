// Memory for the arrays that a Kernels works on: this process's, or a device's,
// whose pointers only the device may follow.
#ifndef GAUNTLET_ENGINE_MATH_MEMORY_H_
#define GAUNTLET_ENGINE_MATH_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/check.h"
#include "engine/status.h"

namespace gauntlet {

enum class MemoryKind : uint8_t { kHost, kDevice };

// In the order of the operations on it. A device's that has failed (see
// Kernels::status) may give null, takes nothing and brings +0.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual MemoryKind kind() const = 0;
  // Aligned to 64 bytes at least; not initialised.
  virtual void* Allocate(size_t bytes) = 0;
  // The same for what can be done without: null, which is no failure, where
  // there is no room to spare.
  virtual void* AllocateIfRoom(size_t bytes) = 0;
  virtual void Release(void* memory) = 0;
  // The host's memory, of which much is going to be moved: keeps it in place,
  // so that a device may read and write it by itself. Of no effect where that
  // cannot be. Before the memory is freed, Unpin.
  virtual void Pin(void* memory, size_t bytes) = 0;
  virtual void Unpin(void* memory) = 0;
  // `from` is the host's, and may be written once this returns.
  virtual void Upload(void* to, const void* from, size_t bytes) = 0;
  // `to` is the host's. Waits for all operations before it.
  virtual void Download(void* to, const void* from, size_t bytes) = 0;
  // Brings to the host what the operations before it leave in `from`, beside
  // those that come later: before AwaitFetch they leave `from` alone, and
  // nobody looks at `to`. Faster where that is pinned. One at a time.
  virtual void Fetch(void* to, const void* from, size_t bytes) = 0;
  // Waits until all of it is here; from any task. kIoError: it did not come.
  virtual Status AwaitFetch() = 0;
  // Both are this memory's, and disjoint.
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
  virtual void Clear(void* to, size_t bytes) = 0;  // zero bytes
};

// The process's own. One for all: it has no state.
Memory& HostMemory();

// An array in a Memory, kept from use to use. Growing forgets what was in it.
template <typename T>
class MemoryArray {
 public:
  // `memory` outlives the array.
  explicit MemoryArray(Memory& memory) : memory_(&memory) {}
  ~MemoryArray() {
    if (data_ != nullptr) memory_->Release(data_);
  }
  MemoryArray(MemoryArray&& other) noexcept
      : memory_(other.memory_),
        data_(std::exchange(other.data_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  MemoryArray& operator=(MemoryArray&&) = delete;
  MemoryArray(const MemoryArray&) = delete;
  MemoryArray& operator=(const MemoryArray&) = delete;

  void Resize(size_t size) {
    if (Fits(size)) return;
    data_ = static_cast<T*>(memory_->Allocate(size * sizeof(T)));
    capacity_ = size_ = size;
  }
  // False: there is no room, and the array is empty.
  bool ResizeIfRoom(size_t size) {
    if (Fits(size)) return true;
    data_ = static_cast<T*>(memory_->AllocateIfRoom(size * sizeof(T)));
    if (data_ == nullptr) return false;
    capacity_ = size_ = size;
    return true;
  }
  size_t size() const { return size_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }
  std::span<T> first(size_t count) { return span().first(count); }
  std::span<const T> first(size_t count) const { return span().first(count); }

 private:
  // Lets go of what is too small.
  bool Fits(size_t size) {
    if (size <= capacity_) {
      size_ = size;
      return true;
    }
    if (data_ != nullptr) memory_->Release(std::exchange(data_, nullptr));
    capacity_ = size_ = 0;
    return false;
  }

  Memory* memory_;
  T* data_ = nullptr;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

// An array of the host's, pinned as long as this lives.
class Pinned {
 public:
  // Both outlive it.
  template <typename T>
  Pinned(Memory& memory, std::span<T> array)
      : memory_(&memory), data_(array.empty() ? nullptr : array.data()) {
    if (data_ != nullptr) memory_->Pin(data_, array.size_bytes());
  }
  ~Pinned() {
    if (data_ != nullptr) memory_->Unpin(data_);
  }
  Pinned(Pinned&& other) noexcept
      : memory_(other.memory_), data_(std::exchange(other.data_, nullptr)) {}
  Pinned& operator=(Pinned&&) = delete;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  Memory* memory_;
  void* data_;
};

// Room for so many floats where each of several arrays in one begins where a
// line of memory does.
constexpr size_t RoundUpToCacheLine(size_t floats) {
  constexpr size_t kLineFloats = 64;
  return (floats + kLineFloats - 1) / kLineFloats * kLineFloats;
}

// The host's values where operations on `memory` may read them: themselves, or
// a copy in `place`. What operations change there is not brought back.
template <typename T>
std::span<T> CopyIn(Memory& memory, std::span<T> values,
                    MemoryArray<std::remove_const_t<T>>& place) {
  if (memory.kind() == MemoryKind::kHost) return values;
  place.Resize(values.size());
  memory.Upload(place.span().data(), values.data(), values.size_bytes());
  return place.span();
}

// Returns where operations on `memory` can leave values for the host: `values`
// itself in the host's memory, else `place`, from which DownloadInto copies
// them.
template <typename T>
std::span<T> OutputIn(Memory& memory, std::span<T> values,
                      MemoryArray<T>& place) {
  if (memory.kind() == MemoryKind::kHost) return values;
  place.Resize(values.size());
  return place.span();
}
template <typename T>
void DownloadInto(Memory& memory, std::span<T> from, std::span<T> values) {
  if (memory.kind() == MemoryKind::kHost) return;
  memory.Download(values.data(), from.data(), from.size_bytes());
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MATH_MEMORY_H_
