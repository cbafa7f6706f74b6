// Memory for the arrays of a Kernels: the memory of this process or of a
// device. Only the device may dereference pointers to its memory.
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

// Operations take effect in order with those of Kernels. Once the device has
// failed (see Kernels::status), allocations may return null, writes are
// ignored, and reads return +0.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual MemoryKind kind() const = 0;
  // Aligned to at least 64 bytes; uninitialized.
  virtual void* Allocate(size_t bytes) = 0;
  // As Allocate, for optional arrays: returns null if memory is short, which is
  // no error.
  virtual void* AllocateIfRoom(size_t bytes) = 0;
  virtual void Release(void* memory) = 0;
  // Pins host memory, so that a device may access it directly: this speeds up
  // large transfers. Has no effect where it is impossible. Unpin must be called
  // before the memory is freed.
  virtual void Pin(void* memory, size_t bytes) = 0;
  virtual void Unpin(void* memory) = 0;
  // Copies from host memory. `from` may be overwritten once this returns.
  virtual void Upload(void* to, const void* from, size_t bytes) = 0;
  // Copies to host memory. Waits for all earlier operations.
  virtual void Download(void* to, const void* from, size_t bytes) = 0;
  // Starts an asynchronous copy to host memory, with the values that `from` has
  // after all earlier operations. Until AwaitFetch has returned, later
  // operations must not change `from`, and `to` must not be read. Faster if
  // `to` is pinned. Only one fetch may be in progress.
  virtual void Fetch(void* to, const void* from, size_t bytes) = 0;
  // Waits until the fetch is complete. Safe from any task. kIoError: the fetch
  // failed.
  virtual Status AwaitFetch() = 0;
  // Both arrays are in this memory, and disjoint.
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
  virtual void Clear(void* to, size_t bytes) = 0;  // zero bytes
};

// Returns the process's own memory. Always returns the same object, which has
// no state.
Memory& HostMemory();

// An array in a Memory, reused. Growing discards its contents.
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
  // Returns false if memory is short; the array is then empty.
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
  // If the capacity suffices, sets the size and returns true. Otherwise
  // releases the memory and returns false.
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

// An array of the host, pinned as long as this object exists.
class Pinned {
 public:
  // `memory` and `array` must outlive this.
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

// Returns the size of an array of `floats` rounded up so that an array placed
// after it starts at a cache line.
constexpr size_t RoundUpToCacheLine(size_t floats) {
  constexpr size_t kLineFloats = 64;
  return (floats + kLineFloats - 1) / kLineFloats * kLineFloats;
}

// Makes the host's `values` readable for operations on `memory`. Returns
// `values` itself, or a copy in `place`. Changes to the copy are not copied
// back.
template <typename T>
std::span<T> CopyIn(Memory& memory, std::span<T> values,
                    MemoryArray<std::remove_const_t<T>>& place) {
  if (memory.kind() == MemoryKind::kHost) return values;
  place.Resize(values.size());
  memory.Upload(place.span().data(), values.data(), values.size_bytes());
  return place.span();
}

// Returns an array to which operations on `memory` can write values for the
// host: `values` itself if `memory` is the host's, else `place`. DownloadInto
// then copies them from `place` to the host.
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
