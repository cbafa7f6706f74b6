// A state that several faults leave is named by the simplest of them.
#include "harness/trainer/trial_crash.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trainer/verdict/crash_findings.h"
#include "harness/trainer/verdict/equal_crashes.h"
#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A program that saves ckpt twice: first with a rename but no sync, then in
// place. A power loss after the first save leaves ckpt empty, and so does a
// kill in the second.
class TrialCrashTest : public testing::Test {
 protected:
  TrialCrashTest() {
    log_.Create("ckpt.tmp");
    log_.Write("ckpt.tmp", "one");
    log_.Rename("ckpt.tmp", "ckpt");
    log_.Truncate("ckpt", 0);
    log_.Write("ckpt", "two");
  }

  // Returns the trial of the empty ckpt, still named after the power loss.
  CrashTrial Empty() {
    CrashTrial trial;
    const auto state = ParseCrashStateId("ext4-3-data0");
    EXPECT_TRUE(state.ok());
    const FilePatterns files(log_.log());
    EXPECT_TRUE(DescribeCrash(files, *state, trial).ok());
    trial.equal_crashes = {
        {.id = "kill-4", .fault = CrashFault::kKill, .operation = 4}};
    return trial;
  }
  std::vector<CrashTrial> Named(const CrashTrial& trial,
                                const CrashVerdict& verdict) {
    std::vector<CrashTrial> trials = {trial};
    EXPECT_TRUE(NameBySimplestCrash(log_.log(), {verdict}, trials).ok());
    return trials;
  }

  WrittenLog log_;
};

TEST_F(TrialCrashTest, KillNamesFindingThatPowerLossLeavesToo) {
  const CrashVerdict verdict = {
      RecoveryVerdict::kFails, "reason", {RecoveryVerdict::kFails}};
  const std::vector<CrashTrial> trials = Named(Empty(), verdict);
  EXPECT_EQ(trials[0].id, "kill-4");
  EXPECT_EQ(trials[0].fault, CrashFault::kKill);
  EXPECT_EQ(trials[0].operation, 4U);
  EXPECT_EQ(trials[0].file_pattern, "ckpt");
  EXPECT_THAT(trials[0].point, HasSubstr("killed after truncate"));
  EXPECT_EQ(Empty().lost_files.size(), 1U);
  EXPECT_TRUE(trials[0].lost.empty());
  EXPECT_TRUE(trials[0].lost_files.empty());
  ASSERT_EQ(trials[0].equal_crashes.size(), 1U);
  EXPECT_EQ(trials[0].equal_crashes[0].id, "ext4-3-data0");
  EXPECT_THAT(GroupFindings(trials, {verdict}, {})[0].title,
              HasSubstr("fails: kill at ckpt"));
}

TEST_F(TrialCrashTest, TellsFilesWrittenInPlaceFromRenamedOnes) {
  log_.Create("log");
  log_.Write("log", "a");
  log_.Close("log");
  log_.Write("log", "b", 1);
  struct Row {
    const char* state;
    std::set<std::string> in_place;
    std::set<std::string> unsynced;  // renamed without a sync
  };
  const Row rows[] = {{"kill-4", {"ckpt"}, {}},
                      {"torn-4-1", {"ckpt"}, {}},
                      {"kill-2", {}, {"ckpt.tmp"}},
                      {"kill-3", {}, {}},
                      {"kill-9", {}, {}},  // the log is appended to
                      {"ext4-3-data0", {}, {"ckpt.tmp"}}};
  for (const Row& row : rows) {
    const auto state = ParseCrashStateId(row.state);
    ASSERT_TRUE(state.ok()) << row.state;
    CrashTrial trial;
    EXPECT_TRUE(DescribeCrash(FilePatterns(log_.log()), *state, trial).ok());
    EXPECT_EQ(trial.in_place_files, row.in_place) << row.state;
    EXPECT_EQ(trial.unsynced_files, row.unsynced) << row.state;
  }
}

// Four programs: they sync nothing, the file, the directory, or both.
TEST(TrialCrashSyncTest, TellsWhichSyncsAreMissing) {
  for (const bool syncs_file : {false, true}) {
    for (const bool syncs_directory : {false, true}) {
      WrittenLog log;
      uint64_t end = 0;
      for (const std::string text : {"one", "two"}) {
        log.Create("ckpt.tmp");
        log.Write("ckpt.tmp", text);
        if (syncs_file) log.Sync("ckpt.tmp");
        end = log.Rename("ckpt.tmp", "ckpt");
        if (syncs_directory) log.SyncDirectory(".");
      }
      CrashTrial trial;
      const CrashState state = {.kind = CrashStateKind::kPowerLoss,
                                .operations = end,
                                .profile = DurabilityProfile::kWeak,
                                .lost = {end}};
      EXPECT_TRUE(DescribeCrash(FilePatterns(log.log()), state, trial).ok());
      EXPECT_THAT(trial.in_place_files, IsEmpty());
      EXPECT_EQ(trial.unsynced_files.empty(), syncs_file);
      EXPECT_EQ(trial.unsynced_renames.empty(), syncs_directory);
    }
  }
}

// Two writes to a file that stays open. Before the second one, a thread closes
// another file.
TEST_F(TrialCrashTest, FileThatStaysOpenDuringOtherSavesIsALog) {
  struct Row {
    const char* file;
    uint64_t offset;  // offset of the second write
    int32_t thread;   // closes the other file; thread 0 makes both writes
    std::set<std::string> in_place;
  };
  const Row rows[] = {{"log", 3, 0, {}},
                      {"other-thread", 3, 7, {"other-thread"}},
                      {"overwritten", 0, 0, {"overwritten"}}};
  for (const Row& row : rows) {
    log_.Create(row.file);
    log_.Write(row.file, "one");
    FileOperation close = log_.Named(OperationKind::kClose, "ckpt");
    close.thread = row.thread;
    log_.Add(close);
    const uint64_t end = log_.Write(row.file, "two", row.offset);
    CrashTrial trial;
    EXPECT_TRUE(
        DescribeCrash(FilePatterns(log_.log()),
                      {.kind = CrashStateKind::kKill, .operations = end}, trial)
            .ok());
    EXPECT_EQ(trial.in_place_files, row.in_place) << row.file;
  }
}

TEST_F(TrialCrashTest, FileThatOneSaveWritesInPartsIsWrittenInPlace) {
  log_.Create("parts");
  log_.Write("parts", "one");
  const uint64_t end = log_.Write("parts", "two", 3);
  CrashTrial trial;
  SetPlace(FilePatterns(log_.log()), end, trial);
  EXPECT_THAT(trial.in_place_files, ElementsAre("parts"));
}

TEST_F(TrialCrashTest, PowerLossKeepsAFindingThatAKillDoesNotShow) {
  const std::vector<CrashTrial> trials = Named(
      Empty(),
      {RecoveryVerdict::kLostWork, "reason", {RecoveryVerdict::kRecovered}});
  EXPECT_EQ(trials[0].id, "ext4-3-data0");
}

TEST_F(TrialCrashTest, StateCountsForEachFault) {
  const CrashVerdict verdict = {
      RecoveryVerdict::kFails, "reason", {RecoveryVerdict::kFails}};
  std::vector<CrashFault> faults;
  for (const JudgedCrash& crash : CrashesByFault(Empty(), verdict))
    faults.push_back(crash.fault);
  EXPECT_THAT(faults, ElementsAre(CrashFault::kKill, CrashFault::kPowerLoss));
  EXPECT_EQ(EqualCrashesText(Empty(), verdict),
            "the same directories: kill-4 (fails)");
}

TEST_F(TrialCrashTest, EqualCrashesComeFromTheList) {
  CrashStateList list(log_.log(), {});
  CrashTrial trial = Empty();
  trial.equal_crashes.clear();
  while (true) {
    const auto state = list.Next();
    ASSERT_TRUE(state.ok());
    if (!*state) break;
    if (CrashStateId(**state) == trial.id) trial.image = (*state)->image;
  }
  ASSERT_TRUE(trial.image);
  AddEqualCrashes(list, trial);
  ASSERT_FALSE(trial.equal_crashes.empty());
  EXPECT_EQ(trial.equal_crashes[0].id, "kill-4");
}

}  // namespace
}  // namespace gauntlet
