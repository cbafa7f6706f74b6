#include "harness/cli/run_folders/stored_records.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;

TEST(StoredRecordsTest, CasesAreSortedByNameAndThenWorld) {
  std::vector<std::string> folders = {
      "runs/b.sim", "runs/b.real",       "runs/a.real",  "runs/a.s.sim",
      "runs/a.sim", "runs/b~try-2.real", "runs/a.s.real"};
  SortCases(folders);
  EXPECT_THAT(folders, ElementsAre("runs/a.sim", "runs/a.real", "runs/a.s.sim",
                                   "runs/a.s.real", "runs/b.sim", "runs/b.real",
                                   "runs/b~try-2.real"));
}

TEST(StoredRecordsTest, CasesOfARunAreSortedByNameAndThenWorld) {
  const ScratchDirectory run;
  for (const char* folder : {"b.sim", "a.real", "a.sim"}) {
    std::filesystem::create_directory(run / folder);
    ASSERT_TRUE(WriteTextFile(run / folder + "/record.jsonl", "").ok());
  }
  const auto cases = PickCases(run.path(), "", WorldChoice::kBoth);
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  EXPECT_THAT(*cases, ElementsAre("a.sim", "a.real", "b.sim"));
}

TEST(StoredRecordsTest, SlashesAtTheEndOfATargetHaveNoMeaning) {
  const ScratchDirectory runs;
  const std::filesystem::path run = runs / "r";
  std::filesystem::create_directory(run);
  ASSERT_TRUE(WriteTextFile(run / "result.json", "").ok());
  for (const std::string& target :
       std::vector<std::string>{run / "a/", "r/a//"}) {
    const auto picked = PickRunTarget(target, runs.path());
    ASSERT_TRUE(picked.ok()) << picked.status().message();
    EXPECT_EQ(picked->folder, run);
    EXPECT_EQ(picked->case_name, "a");
  }
}

TEST(StoredRecordsTest, CrashTestIsNoCaseWithARecord) {
  const ScratchDirectory run;
  std::filesystem::create_directories(run / "t.real/crash-test");
  std::filesystem::create_directory(run / "t-foo.sim");
  ASSERT_TRUE(WriteTextFile(run / "t-foo.sim/record.jsonl", "").ok());
  const auto pick = [&run](const char* text) {
    return PickCases(run.path(), text, WorldChoice::kBoth);
  };
  EXPECT_THAT(*pick("t-"), ElementsAre("t-foo.sim"));
  EXPECT_EQ(pick("t").status().code(), Code::kNotFound);
  EXPECT_THAT(*PickCaseFolders(run.path(), "t"), ElementsAre("t.real"));
}

}  // namespace
}  // namespace gauntlet
