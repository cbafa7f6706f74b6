#include "chaos/trace/log/copied_range.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/real/posix/posix_status.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Copies some of the range. Returns the number of bytes; 0: the source has
// ended; negative: errno.
ssize_t CopySome(FilePosition from, FilePosition to, uint64_t length) {
  auto in = static_cast<off64_t>(from.at);
  auto out = static_cast<off64_t>(to.at);
  const ssize_t copied = RetryOnInterrupt([&] {
    return copy_file_range(from.file, &in, to.file, &out, length, 0);
  });
  // In all other cases, copies through a buffer: the file system may not
  // support copy_file_range.
  if (copied > 0 || (copied < 0 && (errno == ENOSPC || errno == EDQUOT)))
    return copied;
  std::vector<std::byte> piece(std::min<uint64_t>(length, kPieceBytes));
  const ssize_t count = RetryOnInterrupt([&] {
    return pread(from.file, piece.data(), piece.size(),
                 static_cast<off_t>(from.at));
  });
  if (count <= 0) return count;
  return RetryOnInterrupt([&] {
    return pwrite(to.file, piece.data(), static_cast<size_t>(count),
                  static_cast<off_t>(to.at));
  });
}

}  // namespace

Status CopyRange(FilePosition from, FilePosition to, uint64_t length,
                 std::string_view name) {
  while (length > 0) {
    const ssize_t count = CopySome(from, to, length);
    if (count < 0)
      return PosixError(errno, fmt::format("copy of {}", name), "write");
    if (count == 0) {
      return DataLoss(
          fmt::format("{}: cut at byte {}: record again", name, from.at));
    }
    from.at += static_cast<uint64_t>(count);
    to.at += static_cast<uint64_t>(count);
    length -= static_cast<uint64_t>(count);
  }
  return OkStatus();
}

}  // namespace gauntlet
