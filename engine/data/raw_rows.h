// Rows as a source stores them: bytes, before they become features.
#ifndef GAUNTLET_ENGINE_DATA_RAW_ROWS_H_
#define GAUNTLET_ENGINE_DATA_RAW_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gauntlet {

// Grey images, row-major, one byte a pixel; a label below kImageClasses each.
struct RawRows {
  uint32_t rows = 0;
  uint32_t height = 0;
  uint32_t width = 0;
  std::vector<uint8_t> pixels;  // rows x height x width
  std::vector<uint8_t> labels;  // rows
};

inline constexpr uint32_t kImageClasses = 10;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_RAW_ROWS_H_
