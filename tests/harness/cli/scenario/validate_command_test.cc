#include "harness/cli/scenario/validate_command.h"

#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

class ValidateCommandTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string file = scratch_ / name;
    EXPECT_TRUE(WriteTextFile(file, text).ok());
    return file;
  }
  int Validate(const std::string& path) {
    return RunValidate({.paths = {path}}, console_);
  }

  ScratchDirectory scratch_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(ValidateCommandTest, PrintsTheStepsOfAScenarioWithOneCase) {
  const std::string file =
      Write("a.yaml",
            "schema: gauntlet/v2\nname: a\npreset: tiny\n"
            "job: {epochs: 3, replicas: 2}\nexpect: {outcome: completes}\n");
  EXPECT_EQ(Validate(file), 0) << err_.str();
  EXPECT_EQ(out_.str(),
            "1 scenario, 2 cases: valid; 12 steps in an epoch, 36 in all\n");
}

TEST_F(ValidateCommandTest, CountsValidCases) {
  Write("a.yaml", SmallScenario("expect: {outcome: completes}\n", "a"));
  Write("b.yaml", SmallScenario("matrix: {cluster.workers: [1, 2]}\n"
                                "expect: {outcome: completes}\n",
                                "b"));
  EXPECT_EQ(Validate(scratch_.path()), 0) << err_.str();
  EXPECT_EQ(out_.str(), "2 scenarios, 6 cases: valid\n");
}

TEST_F(ValidateCommandTest, ReportsErrorsWithTheirPlace) {
  Write("a.yaml", SmallScenario("expect: {outcome: wins}\n", "a"));
  EXPECT_EQ(Validate(scratch_.path()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("a.yaml:"));
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(Validate("no-such-file.yaml"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("gauntlet validate: no-such-file.yaml"));
}

TEST_F(ValidateCommandTest, DataThatCannotBeRead_AreAnErrorWithItsPlace) {
  const std::string file = Write(
      "a.yaml", "schema: gauntlet/v2\nname: a\njob: {data: {kind: npy, path: " +
                    scratch_.path() + "}}\nexpect: {outcome: completes}\n");
  EXPECT_EQ(Validate(file), 2);
  EXPECT_THAT(err_.str(), HasSubstr("a.yaml:3:13: error: case a: job: "));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ValidateCommandTest, ReadsAFolderThatIsNamedLikeAScenario) {
  std::filesystem::create_directories(scratch_ / "folder.yaml");
  Write("folder.yaml/a.yaml", SmallScenario("expect: {outcome: completes}\n"));
  EXPECT_EQ(Validate(scratch_ / "folder.yaml"), 0) << err_.str();
}

TEST_F(ValidateCommandTest, Dash_IsRefusedAsStandardInput) {
  EXPECT_EQ(Validate("-"), 2);
  EXPECT_EQ(err_.str(),
            "gauntlet validate: -: scenarios are not read from standard input; "
            "name a file or a folder\n");
}

TEST_F(ValidateCommandTest, FolderWithoutScenarios_IsNothingSelected) {
  Write("a.txt", "no scenario\n");
  EXPECT_EQ(Validate(scratch_.path()), 4);
  EXPECT_EQ(err_.str(),
            "gauntlet validate: nothing selected of 0 cases: no file that ends "
            "in .yaml or .yml in " +
                scratch_.path() + "\n");
  EXPECT_EQ(out_.str(), "");
}

// A link to itself cannot be listed, even by root.
TEST_F(ValidateCommandTest, UnreadableFolder_AsksForAnother) {
  std::filesystem::create_directory_symlink("loop", scratch_ / "loop");
  EXPECT_EQ(Validate(scratch_ / "loop"), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("; name another folder, or the scenario files\n"));
}

TEST_F(ValidateCommandTest, MistypedFile_SuggestsTheOneBesideIt) {
  Write("mine.yaml", SmallScenario("expect: {outcome: completes}\n", "a"));
  EXPECT_EQ(Validate(scratch_ / "mien.yaml"), 2);
  EXPECT_EQ(err_.str(), "gauntlet validate: " + (scratch_ / "mien.yaml") +
                            ": no such scenario file or folder; did you mean "
                            "mine.yaml?\n");
}

TEST_F(ValidateCommandTest, TakesNoLabelForAPath) {
  EXPECT_EQ(Validate("smoke"), 2);
  EXPECT_EQ(err_.str(),
            "gauntlet validate: smoke: no such scenario file or folder; to "
            "select by a label, use gauntlet run FOLDER -L smoke\n");
  err_.str("");
  EXPECT_EQ(Validate("none/here"), 2);
  EXPECT_EQ(err_.str(),
            "gauntlet validate: none/here: no such scenario file or folder\n");
}

}  // namespace
}  // namespace gauntlet
