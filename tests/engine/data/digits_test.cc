#include "engine/data/digits.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "engine/digest.h"

namespace gauntlet {
namespace {

RawSamples Train(uint32_t samples, uint32_t side = 28) {
  return DrawDigits({.samples = samples, .side = side});
}

std::string DigestOfPixels(const RawSamples& raw) {
  return DigestOf(std::as_bytes(std::span(raw.pixels))).ToString();
}

// Checks that `many` begins with the samples of `few`.
void ExpectFirstSamples(const RawSamples& few, const RawSamples& many) {
  EXPECT_TRUE(std::ranges::equal(
      few.pixels, std::span(many.pixels).first(few.pixels.size())));
  EXPECT_TRUE(std::ranges::equal(
      few.labels, std::span(many.labels).first(few.labels.size())));
}

// The bytes must never change: jobs and golden digests depend on them.
TEST(DigitsTest, BytesAreTheSameEverywhere) {
  EXPECT_EQ(DigestOfPixels(Train(256)), "cac42a16aa10caf8b3f6dbaabaad9538");
  EXPECT_EQ(DigestOfPixels(Train(256, 7)), "c646444bba5ff686220fe18a8e11f14f");
}

TEST(DigitsTest, SamplesDoNotDependOnTheirNumber) {
  ExpectFirstSamples(Train(3), Train(20));
}

// Several threads draw, each a part whose size depends on the number.
TEST(DigitsTest, SamplesDoNotDependOnTheThreadThatDrawsThem) {
  ExpectFirstSamples(Train(1025), Train(1500));
}

TEST(DigitsTest, ValidationSamplesAreOtherSamples) {
  const RawSamples train = Train(512);
  const RawSamples validation =
      DrawDigits({.split = DataPart::kValidation, .samples = 512});
  const size_t size = 28 * 28;
  for (size_t i = 0; i < 512; ++i) {
    const auto sample = std::span(validation.pixels).subspan(i * size, size);
    EXPECT_EQ(std::search(train.pixels.begin(), train.pixels.end(),
                          sample.begin(), sample.end()),
              train.pixels.end())
        << i;
  }
}

TEST(DigitsTest, EveryDigitAppearsAboutAsOftenAsAnyOther) {
  std::array<int, kImageClasses> count{};
  for (const uint8_t label : Train(4096).labels) ++count.at(label);
  // Expects 409.6, within five standard deviations of 19.2.
  for (const int n : count) EXPECT_NEAR(n, 410, 96);
}

TEST(DigitsTest, SmallImagesAreTheMeansOfBlocks) {
  const RawSamples big = Train(5);
  const RawSamples small = Train(5, 7);
  ASSERT_EQ(small.pixels.size(), 5u * 49);
  EXPECT_EQ(small.labels, big.labels);
  for (size_t i = 0; i < small.pixels.size(); ++i) {
    const size_t corner = i / 49 * 784 + i % 49 / 7 * 4 * 28 + i % 7 * 4;
    int sum = 0;
    for (size_t p = 0; p < 16; ++p) {
      sum += big.pixels[corner + p / 4 * 28 + p % 4];
    }
    EXPECT_EQ(small.pixels[i], (sum + 8) / 16) << i;
  }
}

}  // namespace
}  // namespace gauntlet
