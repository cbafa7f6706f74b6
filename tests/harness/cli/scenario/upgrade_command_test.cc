#include "harness/cli/scenario/upgrade_command.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/storage/posix_storage.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

class UpgradeCommandTest : public testing::Test {
 protected:
  int Upgrade(const std::string& file) {
    PosixStorage storage;
    return RunUpgrade({.file = file}, storage, console_);
  }

  ScratchDirectory scratch_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(UpgradeCommandTest, PrintsTheUpgradedFileAndLeavesItAlone) {
  const auto file = scratch_ / "old.yaml";
  const std::string text = "schema: gauntlet/v1\nname: a\nuse: tiny  # why\n";
  ASSERT_TRUE(WriteTextFile(file, text).ok());
  EXPECT_EQ(Upgrade(file), 0);
  EXPECT_EQ(out_.str(), "schema: gauntlet/v2\nname: a\npreset: tiny  # why\n");
  EXPECT_EQ(ReadTextFile(file), text);
}

TEST_F(UpgradeCommandTest, FileThatIsNoScenario_IsRefusedInOneLine) {
  const auto file = scratch_ / "other.yaml";
  ASSERT_TRUE(WriteTextFile(file, "hello: world\n").ok());
  EXPECT_EQ(Upgrade(file), 2);
  EXPECT_THAT(err_.str(), testing::StartsWith("gauntlet upgrade: " + file +
                                              ":1:1: not a scenario: "));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(UpgradeCommandTest, UnreadableFile_IsRefusedInOneLine) {
  EXPECT_EQ(Upgrade(scratch_ / "none.yaml"), 2);
  EXPECT_EQ(err_.str(), "gauntlet upgrade: " + (scratch_ / "none.yaml") +
                            ": no such scenario file\n");
  EXPECT_EQ(Upgrade(scratch_.path()), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr(scratch_.path() + ": expected a regular file, found a "
                                          "directory\n"));
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace gauntlet
