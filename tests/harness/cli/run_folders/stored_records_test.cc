#include "harness/cli/run_folders/stored_records.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include <unistd.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

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

TEST(StoredRecordsTest, CaseWithoutTheRecordThatItsNameMeansIsReported) {
  const ScratchDirectory run;
  std::filesystem::create_directory(run / "a.sim");
  for (const char* folder : {"a.real", "b.real"}) {
    std::filesystem::create_directory(run / folder);
    ASSERT_TRUE(WriteTextFile(run / folder + "/record.jsonl", "").ok());
  }
  const auto pick = [&run](const char* text, WorldChoice world) {
    return PickCases(run.path(), text, world);
  };
  for (const WorldChoice world :
       {WorldChoice::kBoth, WorldChoice::kSimulated}) {
    EXPECT_EQ(pick("a", world).status().ToString(),
              NotFound("case 'a': a.sim has no record.jsonl; for the record of "
                       "the other world, name a.real")
                  .ToString());
    EXPECT_THAT(*pick("b", world), ElementsAre("b.real"));
  }
  EXPECT_EQ(pick("a.sim", WorldChoice::kBoth).status().ToString(),
            pick("a", WorldChoice::kBoth).status().ToString());
  EXPECT_THAT(*pick("a", WorldChoice::kReal), ElementsAre("a.real"));
  EXPECT_THAT(*pick("a.real", WorldChoice::kBoth), ElementsAre("a.real"));
}

TEST(StoredRecordsTest, NamesTheRecordOfTheOtherWorld_IfThereIsNoOther) {
  const ScratchDirectory run;
  std::filesystem::create_directory(run / "a.real");
  ASSERT_TRUE(WriteTextFile(run / "a.real/record.jsonl", "").ok());
  EXPECT_EQ(
      PickCases(run.path(), "a.sim", WorldChoice::kBoth).status().message(),
      "case 'a.sim': the run has this case only as a.real, so name that");
}

TEST(StoredRecordsTest, RunName_WinsOverAFolderOfTheSameName) {
  const ScratchDirectory runs;
  const ScratchDirectory current;
  for (const ScratchDirectory* const parent : {&runs, &current}) {
    std::filesystem::create_directories(*parent / "latest/a.sim");
    for (const char* file :
         {"result.json", "record.jsonl", "a.sim/record.jsonl"})
      ASSERT_TRUE(WriteTextFile(*parent / "latest/" + file, "").ok());
  }
  const std::filesystem::path run = runs / "latest";
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(current.path());
  const auto named = PickRunTarget("latest", runs.path());
  const auto one = PickRunTarget("latest/a", runs.path());
  const auto path = PickRunTarget("./latest", runs.path());
  const auto record = FindRecordFile("latest", runs.path(), WorldChoice::kBoth);
  std::filesystem::current_path(before);
  ASSERT_TRUE(named.ok() && one.ok() && path.ok() && record.ok());
  EXPECT_EQ(named->folder, run);
  EXPECT_EQ(one->folder, run);
  EXPECT_EQ(one->case_name, "a");
  EXPECT_EQ(path->folder, "./latest");
  EXPECT_EQ(*record, run / "a.sim/record.jsonl");
}

TEST(StoredRecordsTest, FolderOfACaseWithoutAnyRecordIsReported) {
  const ScratchDirectory run;
  for (const char* folder : {"a.sim", "b.real"}) {
    std::filesystem::create_directory(run / folder);
  }
  ASSERT_TRUE(WriteTextFile(run / "b.real/record.jsonl", "").ok());
  EXPECT_EQ(
      PickCases(run.path(), "a.sim", WorldChoice::kBoth).status().message(),
      "case 'a': a.sim has no record.jsonl");
}

TEST(StoredRecordsTest, RecordThatCannotBeLookedUpIsReported) {
  const ScratchDirectory run;
  for (const char* folder : {"a.sim", "b.sim"}) {
    std::filesystem::create_directory(run / folder);
  }
  std::filesystem::create_symlink("record.jsonl", run / "a.sim/record.jsonl");
  ASSERT_TRUE(WriteTextFile(run / "b.sim/record.jsonl", "").ok());
  for (const char* text : {"", "a", "a.sim"}) {
    EXPECT_THAT(
        PickCases(run.path(), text, WorldChoice::kBoth).status().message(),
        EndsWith("/a.sim/record.jsonl: Too many levels of symbolic links"));
  }
  EXPECT_THAT(*PickCases(run.path(), "b", WorldChoice::kBoth),
              ElementsAre("b.sim"));
}

TEST(StoredRecordsTest, MissingFolderOfRuns_NamesTheCommandThatCreatesIt) {
  const ScratchDirectory scratch;
  const std::string runs = scratch / "runs";
  EXPECT_EQ(PickRun("latest", runs).status().message(),
            "run 'latest': there is no folder " + runs +
                ", which gauntlet run creates; for runs kept elsewhere, give "
                "--runs DIR");
  ASSERT_TRUE(WriteTextFile(runs, "").ok());
  EXPECT_EQ(PickRun("latest", runs).status().message(),
            "run 'latest': expected a folder of runs at " + runs +
                ", found a file; for runs kept elsewhere, give --runs DIR");
}

TEST(StoredRecordsTest, FolderThatCannotBeListedIsNotEmpty) {
  const ScratchDirectory runs;
  EXPECT_TRUE(CheckListing(runs.path()).ok());
  constexpr uid_t kNobody = 65534;
  const uid_t user = geteuid();  // permissions do not bind root
  std::filesystem::permissions(runs.path(), std::filesystem::perms::none);
  ASSERT_EQ(seteuid(user == 0 ? kNobody : user), 0);
  const Status listed = CheckListing(runs.path());
  const Status picked = PickRun("latest", runs.path()).status();
  ASSERT_EQ(seteuid(user), 0);
  std::filesystem::permissions(runs.path(), std::filesystem::perms::owner_all);
  EXPECT_EQ(listed.message(), runs.path() + ": Permission denied");
  EXPECT_EQ(picked.message(), listed.message());
}

}  // namespace
}  // namespace gauntlet
