// Rows as a source stores them, before they become features.
#ifndef GAUNTLET_ENGINE_DATA_RAW_ROWS_H_
#define GAUNTLET_ENGINE_DATA_RAW_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gauntlet {

enum class DataPart : uint8_t { kTrain, kValidation };

// Images, row-major with the channels of a pixel adjacent (NHWC). If the source
// stores bytes, they are in `pixels`; if it stores floats, in `values`. Each
// label is below `classes`.
struct RawRows {
  uint32_t rows = 0;
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 1;
  std::vector<uint8_t> pixels;  // rows x height x width x channels
  std::vector<float> values;    // rows x height x width x channels
  std::vector<uint8_t> labels;  // rows
  // Rows of each file, in file order; empty unless the rows come from several
  // files.
  std::vector<uint32_t> rows_of_files;
};

inline constexpr uint32_t kImageClasses = 10;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_RAW_ROWS_H_
