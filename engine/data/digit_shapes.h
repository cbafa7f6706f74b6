// The pen strokes of the digits, before random distortion.
#ifndef GAUNTLET_ENGINE_DATA_DIGIT_SHAPES_H_
#define GAUNTLET_ENGINE_DATA_DIGIT_SHAPES_H_

#include <cstdint>
#include <span>

namespace gauntlet {

// State of the pen on its way to a point.
enum class Pen : uint8_t { kUp, kDown };

// A point in a box of x in [-8, 8] and y in [-12, 12], y downwards.
struct PenPoint {
  int32_t x = 0;
  int32_t y = 0;
  Pen pen = Pen::kDown;
};

using DigitShape = std::span<const PenPoint>;

// Returns the ways to write the digit, at least one. REQUIRES: digit < 10.
std::span<const DigitShape> ShapesOf(uint32_t digit);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_DIGIT_SHAPES_H_
