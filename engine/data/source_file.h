// Limits and error messages shared by the readers of data files.
#ifndef GAUNTLET_ENGINE_DATA_SOURCE_FILE_H_
#define GAUNTLET_ENGINE_DATA_SOURCE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

inline constexpr uint64_t kMaxDataSamples = 10'000'000;
inline constexpr uint64_t kMaxDataFileBytes = uint64_t{1} << 30;

// Returns kInvalidArgument: "<path>: offset 16: expected 6 more bytes, found
// 5".
Status MalformedData(std::string_view path, uint64_t offset,
                     std::string_view expected, std::string_view found);

// Returns the whole file. kNotFound: no such file; kInvalidArgument: larger
// than the limit; kIoError: the disk failed.
Result<std::string> ReadDataFile(Storage& storage, const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_SOURCE_FILE_H_
