// Memory of large arrays, for which page faults are most of what they cost at
// first: it asks the system for pages of 2 MiB (madvise(2), MADV_HUGEPAGE).
#ifndef GAUNTLET_ENGINE_LARGE_ARRAY_H_
#define GAUNTLET_ENGINE_LARGE_ARRAY_H_

#include <cstddef>
#include <vector>

namespace gauntlet {

// Of memory that nobody has written to yet. Of no effect on less than 4 MiB,
// and where the system has no such pages.
void PreferHugePages(void* memory, size_t bytes);

// Elements are T().
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
