#include "harness/cli/run_folders/old_runs.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/run_folders/run_directory.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include <unistd.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uid_t kNobody = 65534;

class OldRunsTest : public testing::Test {
 protected:
  fs::path runs() const { return scratch_.path(); }
  fs::path Make(const std::string& name) {
    fs::create_directories(runs() / name / "a.sim");
    return runs() / name;
  }
  fs::path MakeFinished(const std::string& name) {
    const fs::path run = Make(name);
    EXPECT_TRUE(WriteTextFile(run / "result.json", "{}").ok());
    return run;
  }
  // Makes an exploration without findings.
  fs::path MakeExploration(const std::string& name) {
    fs::create_directories(runs() / name);
    EXPECT_TRUE(WriteTextFile(runs() / name / "report.html", "x").ok());
    return runs() / name;
  }
  std::vector<std::string> Left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(runs())) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  ScratchDirectory scratch_;
};

TEST(IsRunIdTest, AcceptsNamesOfRuns) {
  for (const char* id : {"20261121T104300-77", "20261121T104300-7.12"}) {
    EXPECT_TRUE(IsRunId(id)) << id;
  }
  for (const char* name :
       {"", "latest", ".cache", "20261121T104300", "20261121T104300-",
        "20261121T104300-7.", "20261121T104300-7.x", "2026112T104300-77",
        "20261121-104300-77", "20261121T104300-77 copy"}) {
    EXPECT_FALSE(IsRunId(name)) << name;
  }
}

TEST_F(OldRunsTest, RemovesTheOldestBeyondTheLimit) {
  for (const char* id : {"20260103T000000-1", "20260101T000000-9",
                         "20260102T000000-5", "20260104T000000-2"}) {
    MakeFinished(id);
  }
  const RunsRemoved old = RemoveOldRuns(runs(), 2);
  EXPECT_EQ(old.removed, 2u);
  EXPECT_EQ(old.kept, 2u);
  EXPECT_EQ(old.problem, "");
  EXPECT_THAT(Left(), ElementsAre("20260103T000000-1", "20260104T000000-2"));
}

TEST_F(OldRunsTest, KeepsFoldersThatAreNotFinishedRuns) {
  Make("20260101T000000-1");  // no result: an exploration, or still running
  MakeFinished("my-runs");
  const fs::path elsewhere = MakeFinished("elsewhere");
  fs::create_directory_symlink(elsewhere, runs() / "20260102T000000-1");
  MakeFinished("20260103T000000-1");
  EXPECT_EQ(RemoveOldRuns(runs(), 1).removed, 0u);
  EXPECT_EQ(Left().size(), 5u);
}

TEST_F(OldRunsTest, RemovesExplorationsThatFoundNothing) {
  MakeExploration("20260101T000000-1");
  fs::create_directory(MakeExploration("20260102T000000-1") / "findings");
  MakeExploration("20260103T000000-1");
  MakeFinished("20260101T000000-5");
  const RunsRemoved old = RemoveOldRuns(runs(), 1);
  EXPECT_EQ(old.removed, 2u);
  EXPECT_EQ(old.kept, 2u);
  EXPECT_EQ(old.problem, "");
  EXPECT_THAT(Left(), ElementsAre("20260101T000000-5", "20260103T000000-1"));
}

TEST_F(OldRunsTest, KeepsFindings) {
  const fs::path findings =
      MakeExploration("20260101T000000-1") / "findings" / "finding-001.yaml";
  fs::create_directory(findings.parent_path());
  ASSERT_TRUE(WriteTextFile(findings, "x").ok());
  const fs::path note = MakeExploration("20260102T000000-1") / "note.txt";
  ASSERT_TRUE(WriteTextFile(note, "x").ok());
  MakeExploration("20260103T000000-1");
  const RunsRemoved none = RemoveOldRuns(runs(), 1);
  EXPECT_EQ(none.removed, 0u);
  EXPECT_EQ(none.problem, "");
  EXPECT_TRUE(fs::exists(findings));
  EXPECT_TRUE(fs::exists(note));
}

TEST_F(OldRunsTest, KeepsTheTargetOfLatest) {
  MakeFinished("20260101T000000-1");
  MakeFinished("20260102T000000-1");
  MakeFinished("20260103T000000-1");
  fs::create_directory_symlink("20260101T000000-1", runs() / "latest");
  EXPECT_EQ(RemoveOldRuns(runs(), 2).removed, 1u);
  EXPECT_THAT(Left(),
              ElementsAre("20260101T000000-1", "20260103T000000-1", "latest"));
}

TEST_F(OldRunsTest, OrdersTheRunsOfASecondByTheirNumber) {
  for (const char* suffix : {"", ".2", ".10"}) {
    MakeFinished(std::string("20260101T000000-1") + suffix);
  }
  EXPECT_EQ(RemoveOldRuns(runs(), 1).removed, 2u);
  EXPECT_THAT(Left(), ElementsAre("20260101T000000-1.10"));
}

TEST_F(OldRunsTest, KeepsARunThatIsBeingWritten) {
  const fs::path old = MakeFinished("20260101T000000-1");
  MakeFinished("20260102T000000-1");
  {
    const RunLock lock(old);
    const RunsRemoved none = RemoveOldRuns(runs(), 1);
    EXPECT_EQ(none.removed, 0u);
    EXPECT_EQ(none.problem, "");
  }
  EXPECT_EQ(RemoveOldRuns(runs(), 1).removed, 1u);
}

TEST_F(OldRunsTest, WaitsForTheLockOfTheRunsFolder) {
  MakeFinished("20260101T000000-1");
  MakeFinished("20260102T000000-1");
  auto lock = std::make_unique<RunsFolderLock>(runs());
  auto removal = std::async(std::launch::async,
                            [this] { return RemoveOldRuns(runs(), 1); });
  EXPECT_EQ(removal.wait_for(std::chrono::milliseconds(100)),
            std::future_status::timeout);
  fs::create_directory_symlink("20260101T000000-1", runs() / "latest");
  lock.reset();
  EXPECT_EQ(removal.get().removed, 1u);
  EXPECT_THAT(Left(), ElementsAre("20260101T000000-1", "latest"));
}

TEST_F(OldRunsTest, NamesTheRunThatCannotBeRemoved) {
  const uid_t user = geteuid();  // permissions do not bind root
  const fs::path old = MakeFinished("20260101T000000-1");
  MakeFinished("20260102T000000-1");
  fs::permissions(old, fs::perms(0555));
  fs::permissions(runs(), fs::perms(0755));
  ASSERT_EQ(seteuid(user == 0 ? kNobody : user), 0);
  const RunsRemoved result = RemoveOldRuns(runs(), 1);
  ASSERT_EQ(seteuid(user), 0);
  EXPECT_EQ(result.removed, 0u);
  EXPECT_THAT(result.problem, HasSubstr("20260101T000000-1: "));
  fs::permissions(old, fs::perms::owner_all);
  EXPECT_TRUE(fs::exists(old / "result.json"));
}

TEST_F(OldRunsTest, RemovesNothingWithoutAFolder) {
  EXPECT_EQ(RemoveOldRuns(runs() / "none", 1).removed, 0u);
}

TEST_F(OldRunsTest, ResumedExplorationTakesItsFolder) {
  const fs::path out = runs() / "out";
  const auto take = [&](EarlierFindings earlier) {
    return MakeFindingsDirectory(out.string(), runs(), earlier).ok();
  };
  fs::create_directories(out);
  for (const char* name : {"report.html", "finding-001-store.yaml"}) {
    ASSERT_TRUE(WriteTextFile(out / name, "").ok());
    EXPECT_FALSE(take(EarlierFindings::kRefuse));
    EXPECT_TRUE(take(EarlierFindings::kKeep));
  }
  ASSERT_TRUE(WriteTextFile(out / "other", "").ok());
  EXPECT_FALSE(take(EarlierFindings::kKeep));
}

TEST_F(OldRunsTest, TwoCommandsDoNotShareAnOutputFolder) {
  const std::string out = (runs() / "out").string();
  {
    const auto first = MakeFindingsDirectory(out, runs());
    ASSERT_TRUE(first.ok()) << first.status().ToString();
    const auto second = MakeFindingsDirectory(out, runs());
    EXPECT_EQ(second.status().message(),
              out +
                  ": another command is writing to it; choose another folder "
                  "with --out DIR");
  }
  EXPECT_TRUE(MakeFindingsDirectory(out, runs()).ok()) << "it is empty";
}

TEST_F(OldRunsTest, OutputFolderIsRemovedWithTheParentsCreatedForIt) {
  const auto take_and_remove = [&](const fs::path& out) {
    const auto taken = MakeFindingsDirectory(out.string(), runs());
    ASSERT_TRUE(taken.ok()) << taken.status().ToString();
    ASSERT_TRUE(WriteTextFile(out / "file", "").ok());
    RemoveWithParents(*taken);
  };
  fs::create_directories(runs());
  take_and_remove(runs() / "a/b/c");
  EXPECT_TRUE(fs::is_empty(runs()));
  fs::create_directories(runs() / "a");
  take_and_remove(runs() / "a/b");
  EXPECT_TRUE(fs::exists(runs() / "a")) << "it existed";
  take_and_remove(runs() / "a");
  EXPECT_TRUE(fs::exists(runs() / "a")) << "it existed";
  EXPECT_TRUE(fs::is_empty(runs() / "a"));
}

TEST_F(OldRunsTest, RunFolderIsRemovedWithTheParentsCreatedForIt) {
  const fs::path folder = runs() / "a/b";
  const auto first = MakeRunOutput(folder);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  const auto second = MakeRunOutput(folder);
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  RemoveWithParents(*second);
  EXPECT_FALSE(fs::exists(second->path));
  EXPECT_TRUE(fs::exists(first->path)) << "it is another command's";
  RemoveWithParents(*first);
  EXPECT_FALSE(fs::exists(runs() / "a"));
}

}  // namespace
}  // namespace gauntlet
