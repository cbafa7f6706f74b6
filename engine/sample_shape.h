// Shape of the features of one sample: an image, pixel by pixel (NHWC).
#ifndef GAUNTLET_ENGINE_SAMPLE_SHAPE_H_
#define GAUNTLET_ENGINE_SAMPLE_SHAPE_H_

#include <cstddef>

namespace gauntlet {

// A flat sample is 1 x 1 with as many channels as values.
struct SampleShape {
  size_t height = 0;
  size_t width = 0;
  size_t channels = 1;

  size_t floats() const { return height * width * channels; }
  bool operator==(const SampleShape&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_SAMPLE_SHAPE_H_
