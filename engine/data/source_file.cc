#include "engine/data/source_file.h"

#include <fmt/format.h>

namespace gauntlet {

Status MalformedData(std::string_view path, uint64_t offset,
                     std::string_view expected, std::string_view found) {
  return InvalidArgument(fmt::format("{}: offset {}: expected {}, found {}",
                                     path, offset, expected, found));
}

Result<std::string> ReadDataFile(Storage& storage, const std::string& path) {
  Result<std::string> bytes = ReadFile(storage, path, kMaxDataFileBytes);
  // ReadFile returns kDataLoss for a file that is larger than the limit.
  if (bytes.status().code() == Code::kDataLoss) {
    return InvalidArgument(bytes.status().message());
  }
  return bytes;
}

}  // namespace gauntlet
