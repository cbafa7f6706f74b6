// Copies bytes of one file into another, in the kernel if possible.
#ifndef GAUNTLET_CHAOS_TRACE_LOG_COPIED_RANGE_H_
#define GAUNTLET_CHAOS_TRACE_LOG_COPIED_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// Most bytes that copying holds in memory at once.
inline constexpr size_t kPieceBytes = size_t{1} << 20U;

struct FilePosition {
  int file = -1;    // a descriptor
  uint64_t at = 0;  // bytes
};

// Returns kDataLoss if the source, called `name`, ends early;
// kResourceExhausted: the disk is full.
Status CopyRange(FilePosition from, FilePosition to, uint64_t length,
                 std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_LOG_COPIED_RANGE_H_
