#include "harness/trainer/verdict/result_check.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/chaos/trace/folder.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Texts = std::vector<std::pair<std::string, std::string>>;

// The recorded run leaves the files a and b.
class ResultCheckTest : public testing::Test {
 protected:
  ResultCheckTest()
      : runs_(MakeRuns(folder_.path())),
        reference_(Leave("recording", {{"a", "1"}, {"b", "2"}})) {}

  // Returns a run that leaves these files.
  RunFolder Leave(const std::string& name, const Texts& files) {
    const auto run = runs_.NewFolder(name);
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    for (const auto& [file, text] : files)
      EXPECT_TRUE(WriteTextFile(run->out() / file, text).ok());
    return *run;
  }
  Result<ResultCheck> Make() {
    return ResultCheck::Make(plan_, runs_, reference_);
  }
  ResultDifferences Compare(const ResultCheck& check, const Texts& files) {
    const RunFolder run = Leave("compared", files);
    const auto differences = check.Compare(run);
    EXPECT_TRUE(differences.ok()) << differences.status().ToString();
    TrainerRuns::Remove(run);
    return *differences;
  }

  CrashTestPlan plan_;

 private:
  static TrainerRuns MakeRuns(const std::string& folder) {
    auto runs = TrainerRuns::Make({}, {.program = RUN_PROGRAM}, folder);
    EXPECT_TRUE(runs.ok()) << runs.status().ToString();
    return std::move(*runs);
  }

  Folder folder_;
  TrainerRuns runs_;
  RunFolder reference_;
};

TEST_F(ResultCheckTest, NamesFilesThatDifferOrAreMissing) {
  const auto check = Make();
  ASSERT_TRUE(check.ok()) << check.status().ToString();
  EXPECT_EQ(check->Compared(), "2 files");
  struct Row {
    Texts files;
    std::vector<std::string> expected;
  };
  for (const Row& row :
       {Row{{{"a", "1"}, {"b", "2"}}, {}},
        Row{{{"a", "1"}, {"b", "2"}, {"more", "3"}}, {}},
        Row{{{"a", "1"}, {"b", "3"}}, {"b"}}, Row{{{"b", "2"}}, {"a"}},
        Row{{{"a", "2"}}, {"a", "b"}}}) {
    const ResultDifferences found = Compare(*check, row.files);
    EXPECT_EQ(found.files, row.expected);
    EXPECT_EQ(found.lines.empty(), row.expected.empty());
  }
}

TEST_F(ResultCheckTest, FileThatIsLeftOutMayDiffer) {
  auto check = Make();
  ASSERT_TRUE(check.ok()) << check.status().ToString();
  check->LeaveOut({"b"});
  EXPECT_EQ(check->file_count(), 1U);
  EXPECT_THAT(Compare(*check, {{"a", "1"}, {"b", "3"}}).lines, IsEmpty());
  EXPECT_THAT(Compare(*check, {{"a", "2"}, {"b", "3"}}).files,
              ElementsAre("a"));
}

TEST_F(ResultCheckTest, ResultsOfThePlanAreCompared) {
  plan_.results = {"b*"};
  const auto check = Make();
  ASSERT_TRUE(check.ok()) << check.status().ToString();
  EXPECT_THAT(Compare(*check, {{"a", "9"}, {"b", "2"}}).lines, IsEmpty());
  EXPECT_THAT(Compare(*check, {{"a", "1"}, {"b", "9"}}).files,
              ElementsAre("b"));
}

TEST_F(ResultCheckTest, PatternWithoutFileIsRefused) {
  plan_.results = {"a", "model*"};
  const auto check = Make();
  EXPECT_EQ(check.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(check.status().message(),
              HasSubstr("found none for model*; it leaves 2 files, the first "
                        "is a"));
}

TEST_F(ResultCheckTest, OutputOfTheCommandIsCompared) {
  plan_.result_command = "cat {out}/b";
  const auto check = Make();
  ASSERT_TRUE(check.ok()) << check.status().ToString();
  EXPECT_EQ(check->Compared(), "what --result-cmd prints");
  EXPECT_THAT(Compare(*check, {{"a", "9"}, {"b", "2"}}).lines, IsEmpty());
  EXPECT_THAT(Compare(*check, {{"b", "3"}}).lines,
              ElementsAre("--result-cmd prints \"3\" instead of \"2\""));
  // A command that fails after a run is a difference.
  EXPECT_THAT(Compare(*check, {}).lines,
              ElementsAre(HasSubstr("--result-cmd: expected a command that "
                                    "ends with 0, found exit code 1: ")));
}

TEST_F(ResultCheckTest, CommandThatFailsAfterTheRecordingIsRefused) {
  plan_.result_command = "exit 3";
  EXPECT_THAT(Make().status().message(), HasSubstr("found exit code 3: "));
}

}  // namespace
}  // namespace gauntlet
