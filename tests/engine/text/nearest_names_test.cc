#include "engine/text/nearest_names.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(NearestNameTest, IsNotAnotherWord) {
  const std::vector<std::string> names = {"job", "use", "checkpoint"};
  EXPECT_EQ(NearestName("jop", names), "job");
  EXPECT_EQ(NearestName("foo", names), "");
  EXPECT_EQ(NearestName("chekcpoint", names), "checkpoint");
  EXPECT_EQ(NearestName("che", names), "checkpoint");
}

TEST(NearestNameTest, SharedPartsAreNotEnough) {
  const std::vector<std::string> names = {"ckpt.copy", "ckpt.shard.write",
                                          "step.begin"};
  EXPECT_EQ(NearestName("ckpt.nope", names), "");
  EXPECT_EQ(NearestName("ckpt.cpoy", names), "ckpt.copy");
  EXPECT_EQ(NearestName("ckpt.shrad.write", names), "ckpt.shard.write");
  EXPECT_EQ(NearestName("ckpt.write", names), "ckpt.shard.write");
  EXPECT_EQ(NearestName("stpe.begin", names), "step.begin");
}

}  // namespace
}  // namespace gauntlet
