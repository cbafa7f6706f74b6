// Samples as a source stores them, before they become features.
#ifndef GAUNTLET_ENGINE_DATA_RAW_SAMPLES_H_
#define GAUNTLET_ENGINE_DATA_RAW_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gauntlet {

enum class DataPart : uint8_t { kTrain, kValidation };

// Images, row-major with the channels of a pixel adjacent (NHWC). If the source
// stores bytes, they are in `pixels`; if it stores floats, in `values`. Each
// label is below `classes`.
struct RawSamples {
  uint32_t samples = 0;
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 1;
  std::vector<uint8_t> pixels;  // samples x height x width x channels
  std::vector<float> values;    // samples x height x width x channels
  std::vector<uint8_t> labels;  // samples
  // Number of samples in each file, in file order; empty unless they come from
  // several files.
  std::vector<uint32_t> samples_of_files;
};

inline constexpr uint32_t kImageClasses = 10;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_RAW_SAMPLES_H_
