#include "engine/data/gathered_rows.h"

#include <algorithm>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

// Rows of two features.
class GatheredRowsTest : public testing::Test {
 protected:
  void Choose(std::span<const uint32_t> numbers) {
    rows_.Clear();
    for (const uint32_t number : numbers) rows_.Add(number);
  }
  std::vector<float> Features() {
    const auto features = rows_.features();
    return {features.begin(), features.end()};
  }
  std::vector<uint8_t> Labels() {
    const auto labels = rows_.labels();
    return {labels.begin(), labels.end()};
  }

  const Dataset data_ = {.rows = 3,
                         .height = 1,
                         .width = 2,
                         .features = {0, 1, 10, 11, 20, 21},
                         .labels = {7, 8, 9}};
  GatheredRows rows_{data_};
};

TEST_F(GatheredRowsTest, AreInTheOrderOfAdding) {
  const std::vector<uint32_t> numbers = {2, 0, 2};
  Choose(numbers);
  EXPECT_TRUE(std::ranges::equal(rows_.numbers(), numbers));
  EXPECT_EQ(Features(), (std::vector<float>{20, 21, 0, 1, 20, 21}));
  EXPECT_EQ(Labels(), (std::vector<uint8_t>{9, 7, 9}));
}

TEST_F(GatheredRowsTest, AnotherChoiceLeavesNothingOfTheOneBefore) {
  Choose({{0, 1, 2}});
  rows_.MutableFeatures()[0] = 5;
  Choose({{0}});
  EXPECT_EQ(Features(), (std::vector<float>{0, 1}));
  EXPECT_EQ(Labels(), (std::vector<uint8_t>{7}));
  rows_.Clear();
  EXPECT_TRUE(Features().empty());
  EXPECT_TRUE(rows_.numbers().empty());
}

TEST_F(GatheredRowsTest, ReportsChangedFeaturesUntilTheNextChoice) {
  Choose({{1}});
  EXPECT_FALSE(rows_.changed());
  rows_.MutableFeatures()[1] = 5;
  EXPECT_EQ(Features(), (std::vector<float>{10, 5}));
  EXPECT_TRUE(rows_.changed());
  Choose({{1}});
  EXPECT_FALSE(rows_.changed());
}

}  // namespace
}  // namespace gauntlet
