#include "engine/app/train/start_error.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

constexpr const char* kExpected =
    ": expected a checkpoint, an --export folder or a weights file, found ";

TEST(StartErrorTest, NoErrorStaysNone) {
  EXPECT_TRUE(DescribeStartError(OkStatus(), "/no/such/file").ok());
}

TEST(StartErrorTest, MissingSource_ReportsTheExpectedContent) {
  const ScratchDirectory scratch;
  for (const std::string& path : std::vector<std::string>{
           scratch / "none", scratch / "none/deeper", "/dev/null/x"}) {
    const Status error =
        DescribeStartError(NotFound(path + ": open: No such"), path);
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_EQ(error.message(), "--init-from: " + path + kExpected +
                                   "nothing; gauntlet train writes one with "
                                   "--ckpt or --export");
  }
}

// A loop of links cannot be read by any user.
TEST(StartErrorTest, UnreadableSource_GivesTheReason) {
  const ScratchDirectory scratch;
  const std::string path = scratch / "loop";
  std::filesystem::create_symlink("loop", path);
  const Status error =
      DescribeStartError(IoError(path + ": open: Too many"), path);
  EXPECT_EQ(error.code(), Code::kIoError);
  EXPECT_THAT(error.message(), HasSubstr(path + kExpected +
                                         "one that cannot be read (Too many "));
}

TEST(StartErrorTest, LinkToNothing_KeepsTheErrorThatNamesItsTarget) {
  const ScratchDirectory scratch;
  const std::string path = scratch / "link";
  std::filesystem::create_symlink("absent", path);
  EXPECT_EQ(
      DescribeStartError(NotFound(path + ": a link to absent"), path).message(),
      "--init-from: " + path + ": a link to absent");
}

TEST(StartErrorTest, ErrorInAReadableSource_StaysAsItIs) {
  const ScratchDirectory scratch;
  const Status error = DescribeStartError(
      DataLoss("w: expected a safetensors file"), scratch.path());
  EXPECT_EQ(error.message(), "--init-from: w: expected a safetensors file");
}

TEST(StartErrorTest, ErrorOfTheJob_StaysAsItIs) {
  EXPECT_EQ(DescribeStartError(InvalidArgument("batch: expected 1"), "/no/such")
                .message(),
            "--init-from: batch: expected 1");
}

}  // namespace
}  // namespace gauntlet
