#include "engine/data/gathered_samples.h"

#include <algorithm>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

// Samples of two features.
class GatheredSamplesTest : public testing::Test {
 protected:
  void Choose(std::span<const uint32_t> numbers) {
    samples_.Clear();
    for (const uint32_t number : numbers) samples_.Add(number);
  }
  std::vector<float> Features() {
    const auto features = samples_.features();
    return {features.begin(), features.end()};
  }
  std::vector<uint8_t> Labels() {
    const auto labels = samples_.labels();
    return {labels.begin(), labels.end()};
  }

  const Dataset data_ = {.samples = 3,
                         .height = 1,
                         .width = 2,
                         .features = {0, 1, 10, 11, 20, 21},
                         .labels = {7, 8, 9}};
  GatheredSamples samples_{data_};
};

TEST_F(GatheredSamplesTest, AreInTheOrderOfAdding) {
  const std::vector<uint32_t> numbers = {2, 0, 2};
  Choose(numbers);
  EXPECT_TRUE(std::ranges::equal(samples_.numbers(), numbers));
  EXPECT_EQ(Features(), (std::vector<float>{20, 21, 0, 1, 20, 21}));
  EXPECT_EQ(Labels(), (std::vector<uint8_t>{9, 7, 9}));
}

TEST_F(GatheredSamplesTest, AnotherChoiceLeavesNothingOfTheOneBefore) {
  Choose({{0, 1, 2}});
  samples_.MutableFeatures()[0] = 5;
  Choose({{0}});
  EXPECT_EQ(Features(), (std::vector<float>{0, 1}));
  EXPECT_EQ(Labels(), (std::vector<uint8_t>{7}));
  samples_.Clear();
  EXPECT_TRUE(Features().empty());
  EXPECT_TRUE(samples_.numbers().empty());
}

TEST_F(GatheredSamplesTest, ReportsChangedFeaturesUntilTheNextChoice) {
  Choose({{1}});
  EXPECT_FALSE(samples_.changed());
  samples_.MutableFeatures()[1] = 5;
  EXPECT_EQ(Features(), (std::vector<float>{10, 5}));
  EXPECT_TRUE(samples_.changed());
  Choose({{1}});
  EXPECT_FALSE(samples_.changed());
}

}  // namespace
}  // namespace gauntlet
