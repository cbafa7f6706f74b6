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

TEST(NearestNameTest, TwoEditsOfFourLettersKeepThreeOfThem) {
  EXPECT_EQ(NearestName("tyni", {"tiny"}), "tiny");
  EXPECT_EQ(NearestName("vrfy", {"verify"}), "verify");
  EXPECT_EQ(NearestName("stpe", {"steps"}), "steps");
  EXPECT_EQ(NearestName("nmae", {"name"}), "name");
  EXPECT_EQ(NearestName("nope", {"name"}), "");
  EXPECT_EQ(NearestName("--nope", {"--name"}), "");
}

TEST(NearestNameTest, DashesOfOptionsAreNotEnough) {
  const std::vector<std::string> names = {"--jobs", "--faults", "-k"};
  EXPECT_EQ(NearestName("--bogus", names), "");
  EXPECT_EQ(NearestName("-x", names), "");
  EXPECT_EQ(NearestName("--", names), "");
  EXPECT_EQ(NearestName("--jbos", names), "--jobs");
  EXPECT_EQ(NearestName("-jobs", names), "--jobs");
  EXPECT_EQ(NearestName("--fualts", names), "--faults");
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
