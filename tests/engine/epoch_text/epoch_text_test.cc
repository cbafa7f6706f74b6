#include "engine/epoch_text.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(EpochTextTest, NamesCountFromOne) {
  EXPECT_EQ(EpochName(0), "epoch 1");
  EXPECT_EQ(EpochName(2), "epoch 3");
}

TEST(EpochTextTest, StateHasItsCompletedEpochs) {
  EXPECT_EQ(EpochsCompleted(0), "0 epochs completed");
  EXPECT_EQ(EpochsCompleted(1), "1 epoch completed");
  EXPECT_EQ(EpochsCompleted(2), "2 epochs completed");
}

TEST(EpochTextTest, PositionWithinAnEpochIsInTheNextOne) {
  EXPECT_EQ(EpochPosition(2, 7680), "epoch 3, sample 7680");
  EXPECT_EQ(EpochPosition(3, 0), "3 epochs completed");
}

}  // namespace
}  // namespace gauntlet
