// Rows as a source stores them, before they become features.
#ifndef GAUNTLET_ENGINE_DATA_RAW_ROWS_H_
#define GAUNTLET_ENGINE_DATA_RAW_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gauntlet {

enum class DataPart : uint8_t { kTrain, kValidation };

// Images, row-major with the channels of a pixel together (NHWC), one byte a
// value; a source that stores floats fills `values` instead. A label below
// `classes` each.
struct RawRows {
  uint32_t rows = 0;
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 1;
  std::vector<uint8_t> pixels;  // rows x height x width x channels
  std::vector<float> values;    // likewise
  std::vector<uint8_t> labels;  // rows
  // How many rows each file holds, in their order; empty: there is one file, or
  // none.
  std::vector<uint32_t> rows_of_files;
};

inline constexpr uint32_t kImageClasses = 10;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_RAW_ROWS_H_
