#include "engine/data/digits.h"

#include <algorithm>
#include <array>
#include <span>
#include <thread>

#include "engine/check.h"
#include "engine/data/digit_shapes.h"
#include "engine/large_array.h"
#include "engine/math/thread_pool.h"
#include "engine/numerics.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int32_t kDigitSide = 28;
constexpr uint32_t kBlock = 4;  // side of a block that becomes 1 pixel
constexpr uint64_t kDigitsKey = 0x6469676974730001;
// Coordinates are in 1/16 of a pixel.
constexpr int32_t kPixel = 16;

using Canvas = std::array<uint8_t, size_t{kDigitSide} * kDigitSide>;

// Random numbers of one sample, consumed in the order of the calls.
class SampleRandom {
 public:
  SampleRandom(const numerics::RandomStream& stream, uint64_t sample)
      : stream_(stream), sample_(sample) {}

  uint32_t Word() {
    if (next_ % 4 == 0) {
      block_ = numerics::StreamBlock(stream_, sample_, next_ / 4);
    }
    return block_.word[next_++ % 4];
  }
  // Returns a number uniform in [low, high].
  int32_t Between(int32_t low, int32_t high) {
    const auto count = static_cast<uint64_t>(high - low) + 1;
    return low + static_cast<int32_t>(Word() * count >> 32);
  }

 private:
  numerics::RandomStream stream_;
  uint64_t sample_;
  uint32_t next_ = 0;
  numerics::PhiloxBlock block_{};
};

struct Point {
  int32_t x = 0;
  int32_t y = 0;
};

// Tip of the pen: full ink up to `radius`, fading to none over one more pixel.
struct Nib {
  int32_t radius = kPixel;
  int32_t ink = 255;
};

// A line between two points, drawn with a nib.
class Segment {
 public:
  Segment(Point a, Point b, const Nib& nib)
      : a_(a),
        dx_(b.x - a.x),
        dy_(b.y - a.y),
        length_(int64_t{dx_} * dx_ + int64_t{dy_} * dy_),
        full_(nib.radius * nib.radius),
        outer_((nib.radius + kPixel) * (nib.radius + kPixel)),
        far_(int64_t{outer_} * length_),
        ink_(nib.ink) {}

  // Returns true iff p is so far from the infinite line through both points
  // that it gets no ink. Most pixels are so far away, and then need no other
  // test.
  bool IsFarFrom(Point p) const {
    const int64_t across =
        int64_t{dx_} * (p.y - a_.y) - int64_t{dy_} * (p.x - a_.x);
    return across * across >= far_;
  }

  // Returns the ink at p. It is zero if p is at least one pixel beyond the
  // nib's radius.
  uint8_t At(Point p) const {
    if (IsFarFrom(p)) return 0;
    const int64_t distance = SquaredDistance(p);
    if (distance >= outer_) return 0;
    if (distance <= full_) return static_cast<uint8_t>(ink_);
    return static_cast<uint8_t>(ink_ * (outer_ - distance) / (outer_ - full_));
  }

 private:
  // Returns the squared distance in (1/16 pixel)^2; exact only if it is below
  // outer_.
  int64_t SquaredDistance(Point p) const {
    const int64_t px = p.x - a_.x;
    const int64_t py = p.y - a_.y;
    const int64_t along = dx_ * px + dy_ * py;
    if (along <= 0) return px * px + py * py;
    if (along >= length_) {
      return (px - dx_) * (px - dx_) + (py - dy_) * (py - dy_);
    }
    const int64_t across = dx_ * py - dy_ * px;
    return across * across / length_;
  }

  Point a_;
  int32_t dx_;
  int32_t dy_;
  int64_t length_;  // squared
  int32_t full_;
  int32_t outer_;
  int64_t far_;  // outer_ x length_
  int32_t ink_;
};

void DrawSegment(Point a, Point b, const Nib& nib, Canvas& canvas) {
  const Segment segment(a, b, nib);
  const int32_t reach = nib.radius + kPixel;
  const auto first = [reach](int32_t u, int32_t v) {
    return std::clamp((std::min(u, v) - reach) / kPixel, 0, kDigitSide);
  };
  const auto last = [reach](int32_t u, int32_t v) {
    return std::clamp((std::max(u, v) + reach) / kPixel + 1, 0, kDigitSide);
  };
  const int32_t left = first(a.x, b.x);
  const int32_t right = last(a.x, b.x);
  const int32_t bottom = last(a.y, b.y);
  for (int32_t y = first(a.y, b.y); y < bottom; ++y) {
    for (int32_t x = left; x < right; ++x) {
      uint8_t& pixel = canvas[static_cast<size_t>(y * kDigitSide + x)];
      pixel = std::max(pixel, segment.At({.x = x * kPixel + kPixel / 2,
                                          .y = y * kPixel + kPixel / 2}));
    }
  }
}

// Maps points of a shape's box to the image. The matrix (xx xy; yx yy), in
// units of 1/64, maps box units to units of 1/16 pixel.
struct Placement {
  int32_t xx = 0;
  int32_t xy = 0;
  int32_t yx = 0;
  int32_t yy = 0;
  Point center;

  Point Map(Point p) const {
    return {.x = center.x + (xx * p.x + xy * p.y) / 64,
            .y = center.y + (yx * p.x + yy * p.y) / 64};
  }
};

Placement RandomPlacement(SampleRandom& random) {
  Placement place;
  place.xx = random.Between(600, 900);
  place.yy = random.Between(640, 860);
  place.xy = random.Between(-240, 240);  // slant
  place.yx = random.Between(-120, 120);
  const int32_t middle = kDigitSide * kPixel / 2;
  const int32_t shift = 5 * kPixel / 2;
  place.center = {.x = middle + random.Between(-shift, shift),
                  .y = middle + random.Between(-shift, shift)};
  return place;
}

void DrawShape(DigitShape shape, SampleRandom& random, Canvas& canvas) {
  const Placement place = RandomPlacement(random);
  const Nib nib{.radius = random.Between(kPixel / 2, kPixel * 7 / 4),
                .ink = random.Between(130, 255)};
  constexpr int32_t kJitter = 16;  // in 1/16 of a box unit
  Point from;
  for (const PenPoint& point : shape) {
    Point to = place.Map({.x = point.x, .y = point.y});
    to.x += random.Between(-kJitter, kJitter);
    to.y += random.Between(-kJitter, kJitter);
    if (point.pen == Pen::kDown) DrawSegment(from, to, nib, canvas);
    from = to;
  }
}

// Draws up to two short strokes that are not part of the digit.
void DrawDistractors(SampleRandom& random, Canvas& canvas) {
  const int32_t count = random.Between(0, 2);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t edge = kDigitSide * kPixel;
    const Point a{.x = random.Between(0, edge), .y = random.Between(0, edge)};
    const int32_t length = 5 * kPixel;
    const Point b{.x = a.x + random.Between(-length, length),
                  .y = a.y + random.Between(-length, length)};
    DrawSegment(a, b, {.radius = kPixel / 2, .ink = random.Between(80, 220)},
                canvas);
  }
}

// Adds noise of at most `level` to every pixel; small amounts are more frequent
// than large ones.
void AddNoise(SampleRandom& random, Canvas& canvas) {
  const auto level = static_cast<uint32_t>(random.Between(10, 110));
  for (size_t i = 0; i < canvas.size(); i += 4) {
    const uint32_t word = random.Word();
    for (uint32_t lane = 0; lane < 4; ++lane) {
      const uint32_t byte = word >> (8 * lane) & 0xff;
      const uint32_t noise = byte * byte * level >> 16;
      uint8_t& pixel = canvas[i + lane];
      pixel = static_cast<uint8_t>(std::min(pixel + noise, 255u));
    }
  }
}

uint8_t DrawSample(SampleRandom random, Canvas& canvas) {
  canvas.fill(0);
  const auto label =
      static_cast<uint8_t>(random.Between(0, int32_t{kImageClasses} - 1));
  const auto shapes = ShapesOf(label);
  const int32_t choice =
      random.Between(0, static_cast<int32_t>(shapes.size()) - 1);
  DrawShape(shapes[static_cast<size_t>(choice)], random, canvas);
  DrawDistractors(random, canvas);
  AddNoise(random, canvas);
  return label;
}

// Writes the rounded mean of each block.
void Shrink(const Canvas& canvas, std::span<uint8_t> small) {
  constexpr uint32_t kSmall = uint32_t{kDigitSide} / kBlock;
  for (uint32_t i = 0; i < small.size(); ++i) {
    uint32_t sum = kBlock * kBlock / 2;
    for (uint32_t y = 0; y < kBlock; ++y) {
      for (uint32_t x = 0; x < kBlock; ++x) {
        const uint32_t row = i / kSmall * kBlock + y;
        const uint32_t column = i % kSmall * kBlock + x;
        sum += canvas[row * kDigitSide + column];
      }
    }
    small[i] = static_cast<uint8_t>(sum / (kBlock * kBlock));
  }
}

// Draws the samples [first, end).
void DrawSamples(const numerics::RandomStream& stream, uint32_t first,
                 uint32_t end, RawSamples& raw) {
  const size_t size = size_t{raw.height} * raw.width;
  Canvas canvas;
  for (uint32_t sample = first; sample < end; ++sample) {
    raw.labels[sample] = DrawSample(SampleRandom(stream, sample), canvas);
    const auto out = std::span(raw.pixels).subspan(sample * size, size);
    if (raw.height == kDigitSide) {
      std::copy(canvas.begin(), canvas.end(), out.begin());
    } else {
      Shrink(canvas, out);
    }
  }
}

}  // namespace

RawSamples DrawDigits(const DigitsSpec& spec) {
  CHECK(spec.side == kDigitSide || spec.side * kBlock == kDigitSide,
        fmt::format("side {}", spec.side));
  const size_t size = size_t{spec.side} * spec.side;
  RawSamples raw{
      .samples = spec.samples, .height = spec.side, .width = spec.side};
  raw.pixels = MakeLargeArray<uint8_t>(size * spec.samples);
  raw.labels.resize(spec.samples);
  const numerics::RandomStream stream =
      numerics::MakeStream(kDigitsKey, numerics::Purpose::kDigits,
                           static_cast<uint32_t>(spec.split), 0);
  // All workers wait while a restarted worker draws its data, so all processors
  // draw.
  constexpr uint32_t kMinSamplesPerThread = 512;
  const uint32_t threads =
      std::clamp(spec.samples / kMinSamplesPerThread, 1u,
                 std::max(std::thread::hardware_concurrency(), 1u));
  const uint32_t share = (spec.samples + threads - 1) / threads;
  ThreadPool(static_cast<int>(threads)).Run([&](int thread) {
    const uint32_t first = share * static_cast<uint32_t>(thread);
    DrawSamples(stream, first, std::min(first + share, spec.samples), raw);
  });
  return raw;
}

}  // namespace gauntlet
