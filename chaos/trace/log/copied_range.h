// Copies bytes of one file into another, in the kernel if possible.
#ifndef GAUNTLET_CHAOS_TRACE_LOG_COPIED_RANGE_H_
#define GAUNTLET_CHAOS_TRACE_LOG_COPIED_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// Size of the buffers through which bytes of files are copied.
inline constexpr size_t kPieceBytes = size_t{1} << 20U;

// A byte of an open file.
struct FilePosition {
  int file = -1;    // descriptor
  uint64_t at = 0;  // offset in bytes
};

// Returns kDataLoss if the source ends within the range, kResourceExhausted if
// the disk is full. Messages call the source `name`.
Status CopyRange(FilePosition from, FilePosition to, uint64_t length,
                 std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_LOG_COPIED_RANGE_H_
