#include "harness/cli/bench/bench_scale_command.h"

#include <filesystem>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class BenchScaleCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    command_.plan.workers = {2, 4};
    command_.plan.crashes = 0;
    command_.out_directory = out_folder_.string();
  }

  const ScratchDirectory scratch_;  // tests run in parallel
  const fs::path out_folder_ = fs::path(scratch_.path()) / "out";
  BenchScaleCommand command_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(BenchScaleCommandTest, WritesPageAndResultAndPrintsThePath) {
  EXPECT_EQ(RunBenchScale(command_, console_), 0) << err_.str();
  const fs::path report = out_folder_ / "report.html";
  EXPECT_THAT(out_.str(), EndsWith("report  " + report.string() + "\n"));
  const std::string page = ReadTextFile(report);
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("Times against workers"));
  const auto result =
      nlohmann::json::parse(ReadTextFile(out_folder_ / "result.json"));
  EXPECT_EQ(result["context"]["executable"], "gauntlet bench scale");
  EXPECT_EQ(result["benchmarks"].size(), 2u);
}

TEST_F(BenchScaleCommandTest, JsonOnStandardOutput_EqualsTheFile) {
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(RunBenchScale(command_, console_), 0) << err_.str();
  EXPECT_EQ(out_.str(), ReadTextFile(out_folder_ / "result.json"));
}

TEST_F(BenchScaleCommandTest, RefusesAFolderWithFilesBeforeItMeasures) {
  fs::create_directories(out_folder_);
  ASSERT_TRUE(WriteTextFile(out_folder_ / "file", "mine").ok());
  EXPECT_EQ(RunBenchScale(command_, console_), 2);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(),
              AllOf(StartsWith("gauntlet bench scale: " + out_folder_.string()),
                    EndsWith("; choose another folder with --out DIR\n")));
  EXPECT_FALSE(fs::exists(out_folder_ / "report.html"));
}

}  // namespace
}  // namespace gauntlet
