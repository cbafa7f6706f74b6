#include "harness/cli/explore_command.h"

#include <filesystem>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/text_file.h"
#include "tests/harness/run/small_cases.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ExploreCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    command_.out_directory = (folder_ / "found").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  int Explore(const std::string& more = "") {
    command_.base_file = (folder_ / "base.yaml").string();
    std::string text =
        SmallScenario(more + "expect: {outcome: completes}\n", "base");
    text.insert(text.find("cluster:"), more_of_job_);
    EXPECT_TRUE(WriteTextFile(command_.base_file, text).ok());
    out_.str("");
    err_.str("");
    return RunExplore(command_, console_);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "explore-command";
  std::string more_of_job_;
  ExploreCommand command_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(ExploreCommandTest, JsonSaysHowManyCasesAFindingHas) {
  command_.cases = 60;
  command_.stop_after = 0;
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(Explore("plant: lose-metrics\n"), 1);
  const json result = json::parse(out_.str());
  ASSERT_FALSE(result["findings"].empty());
  EXPECT_GT(result["findings"][0]["cases"], 1);
  EXPECT_LE(result["findings"][0]["cases"], result["broken"]);
}

TEST_F(ExploreCommandTest, AFindingThatCannotBeWrittenIsShownAllTheSame) {
  command_.cases = 60;
  command_.out_directory = "/proc/nope";
  EXPECT_EQ(Explore("plant: lose-metrics\n"), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("FOUND  case "),
                                HasSubstr("/proc/nope: "), HasSubstr("done.")));
  EXPECT_THAT(err_.str(), HasSubstr("gauntlet explore: /proc/nope: "));
}

TEST_F(ExploreCommandTest, ASweepOfNothingSaysSo) {
  command_.mode = ExploreMode::kNth;
  command_.kinds = {FaultKind::kFsyncFails};
  command_.points = {Point::kStepBegin};
  EXPECT_EQ(Explore(), 4);
  EXPECT_THAT(err_.str(), HasSubstr("nothing selected"));
}

TEST_F(ExploreCommandTest, TheHeadSaysTheStepsOfTheHorizon) {
  command_.cases = 1;
  more_of_job_ = "  max_steps: 7\n";
  EXPECT_EQ(Explore(), 0);
  EXPECT_THAT(out_.str(), HasSubstr("base: 2 workers, 7 steps; "));
}

TEST_F(ExploreCommandTest, BrokenCrashStatesAreCountedByImage) {
  command_.mode = ExploreMode::kCrashStates;
  command_.crash_states.windows = {CrashWindow::kSave};
  command_.crash_states.profiles = {DurabilityProfile::kWeak};
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(Explore("plant: skip-manifest-fsync\n"), 1);
  const json result = json::parse(out_.str());
  EXPECT_GT(result["broken"], 0);
  EXPECT_LT(result["broken"], result["cases"]);
  EXPECT_GT(result["broken_outcomes"], result["broken"]);
  EXPECT_GT(result["ran_twice"], 0);
  EXPECT_TRUE(fs::exists(result["findings"][0]["file"].get<std::string>()));
}

TEST_F(ExploreCommandTest, CrashStatesThatAreStoppedSayByWhatAndWhatIsLeft) {
  command_.mode = ExploreMode::kCrashStates;
  command_.crash_states.windows = {CrashWindow::kSave};
  command_.cases = 5;
  EXPECT_EQ(Explore(), 0);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("stopped by --cases: "),
                    HasSubstr("left out     save on ext4, save on weak, save "
                              "on shared, save on lying-fsync")));
  EXPECT_THAT(out_.str(), Not(HasSubstr("done")));
}

}  // namespace
}  // namespace gauntlet
