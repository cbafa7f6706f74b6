// Large arrays in pages of 2 MiB (madvise(2), MADV_HUGEPAGE). Page faults
// dominate the first use of such arrays, and larger pages cause fewer of them.
#ifndef GAUNTLET_ENGINE_LARGE_ARRAY_H_
#define GAUNTLET_ENGINE_LARGE_ARRAY_H_

#include <cstddef>
#include <vector>

namespace gauntlet {

// Requests huge pages for memory that is not written yet. Has no effect below 4
// MiB, or where the system does not support them.
void PreferHugePages(void* memory, size_t bytes);

// Returns `size` value-initialized elements.
template <typename T>
std::vector<T> MakeLargeArray(size_t size) {
  std::vector<T> array;
  array.reserve(size);
  PreferHugePages(array.data(), size * sizeof(T));
  array.resize(size);
  return array;
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_LARGE_ARRAY_H_
