#include "harness/run/executor/output_files.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/real_world.h"
#include "engine/summary/summary_writer.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OutputFilesTest : public testing::Test {
 protected:
  // Writes a session that begins at step `first`, with a point for each step.
  std::string Write(uint64_t first, uint64_t last) {
    auto writer = SummaryWriter::Open(world_, scratch_ / "curves", first);
    EXPECT_TRUE(writer.ok()) << writer.status().message();
    for (uint64_t step = first; step <= last; ++step) {
      const std::vector<Scalar> scalars = {
          {.tag = "loss", .value = static_cast<float>(step)}};
      EXPECT_TRUE((*writer)->Write(step, scalars).ok());
    }
    return (*writer)->path();
  }

  std::vector<uint64_t> StepsRead() {
    left_ = {};
    const Status looked = LookAtOutputs(
        world_, {.curves = scratch_ / "curves", .model = scratch_ / "model"},
        left_);
    EXPECT_TRUE(looked.ok()) << looked.message();
    std::vector<uint64_t> steps;
    for (const CurvePoint& point : left_.curves) steps.push_back(point.step);
    return steps;
  }

  ScratchDirectory scratch_;
  RealWorld real_;
  World world_ = real_.world();
  Leftovers left_;
};

TEST_F(OutputFilesTest, SessionPurgesItsFirstStepAndLaterOnes) {
  Write(1, 5);
  Write(4, 4);
  EXPECT_THAT(StepsRead(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(left_.curves_damage, "");
  EXPECT_EQ(left_.curves.back().tag, "loss");
  EXPECT_EQ(left_.curves.back().bits, 0x40800000u);
}

TEST_F(OutputFilesTest, ReadsUpToTheFirstIncompleteRecord) {
  const std::string path = Write(1, 3);
  std::string bytes = ReadTextFile(path);
  ASSERT_TRUE(WriteTextFile(path, bytes.substr(0, bytes.size() - 3)).ok());
  EXPECT_THAT(StepsRead(), ElementsAre(1, 2));
  EXPECT_EQ(left_.curves_damage, "");
  bytes.back() ^= 1;
  ASSERT_TRUE(WriteTextFile(path, bytes).ok());
  EXPECT_THAT(StepsRead(), ElementsAre(1, 2));
  EXPECT_THAT(left_.curves_damage, HasSubstr("checksum"));
}

TEST_F(OutputFilesTest, DirectoryWithoutAModelIsNoWholeExport) {
  StepsRead();
  EXPECT_FALSE(left_.exported);
  ASSERT_TRUE(world_.storage.MakeDirectory(scratch_ / "model").ok());
  StepsRead();
  ASSERT_TRUE(left_.exported);
  EXPECT_FALSE(left_.exported->is_complete);
  EXPECT_THAT(left_.exported->reason, HasSubstr("model.json"));
}

}  // namespace
}  // namespace gauntlet
