#include "engine/large_array.h"

#include <cstdint>

#include <sys/mman.h>

namespace gauntlet {

void PreferHugePages(void* memory, size_t bytes) {
  constexpr size_t kPage = size_t{2} << 20;
  if (bytes < 2 * kPage) return;
  // Round inward to whole pages.
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const uintptr_t end = (begin + bytes) / kPage * kPage;
  // Ignores the error: it means that the system has no huge pages.
  madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace gauntlet
