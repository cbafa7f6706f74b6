#include "harness/cli/run_command.h"

#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunCommandTest : public testing::Test {
 protected:
  RunCommandTest() {
    command_.world = WorldChoice::kSimulated;
    command_.runs_directory = (folder() / "runs").string();
  }
  fs::path folder() const { return scratch_.path(); }
  // A scenario of that name in a folder.
  std::string Write(const std::string& where, const std::string& name) {
    fs::create_directories(folder() / where);
    const fs::path file = folder() / where / (name + ".yaml");
    EXPECT_TRUE(WriteTextFile(file, SmallScenario("expect: {outcome: "
                                                  "completes}\n",
                                                  name))
                    .ok());
    return (folder() / where).string();
  }

  ScratchDirectory scratch_;
  RunCommand command_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(RunCommandTest, TwoCasesOfOneNameAreRefusedAndNamed) {
  command_.paths = {Write("d1", "a"), Write("d2", "a")};
  EXPECT_EQ(RunScenarios(command_, console_), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("two cases have the name a, expected one: "));
  EXPECT_THAT(err_.str(), HasSubstr("/d1/a.yaml:2 and "));
  EXPECT_FALSE(fs::exists(folder() / "runs"));
}

TEST_F(RunCommandTest, OneFileThatIsToldTwiceIsRunOnce) {
  const std::string where = Write("d1", "a");
  command_.paths = {where, where + "/../d1/a.yaml"};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 scenario, 1 case, "));
}

TEST_F(RunCommandTest, WhatWorkersComputeOnMayBeSaidForAll) {
  command_.paths = {Write("d1", "a")};
  command_.device = DeviceKind::kEmulated;
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(ReadTextFile(folder() / "runs/latest/a.sim/scenario.yaml"),
              HasSubstr("device: emulated"));
  command_.device = DeviceKind::kCuda;
  out_.str("");
  RunScenarios(command_, console_);
  EXPECT_THAT(out_.str(), HasSubstr("needs a GPU, and the simulated world"));
}

TEST_F(RunCommandTest, ARunHasAFolderOfItsOwnEvenInTheSameSecond) {
  command_.paths = {Write("d1", "a")};
  size_t folders = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  }
  for (const auto& entry : fs::directory_iterator(folder() / "runs")) {
    const bool hidden = entry.path().filename().string().starts_with('.');
    if (entry.is_directory() && !entry.is_symlink() && !hidden) ++folders;
  }
  EXPECT_EQ(folders, 3u);
}

}  // namespace
}  // namespace gauntlet
