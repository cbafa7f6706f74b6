// Advice depends on what the crash left unfinished, and on the verdict.
#include "harness/trainer/verdict/finding_advice.h"

#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using Verdict = RecoveryVerdict;

struct Row {
  CrashFault fault;
  Verdict verdict;
  std::set<std::string> in_place;
  std::set<std::string> unsynced;
  const char* advice;  // a part of it; "": no advice
};

std::string AdviceOn(const Row& row) {
  const CrashTrial trial{.fault = row.fault,
                         .file_pattern = "ckpt*",
                         .in_place_files = row.in_place,
                         .unsynced_files = row.unsynced};
  return AdviceOnFinding({.verdict = row.verdict, .trials = {0}}, {trial}, {});
}

TEST(FindingAdviceTest, DependsOnUnfinishedFilesAndTheVerdict) {
  const Row rows[] = {
      {CrashFault::kTornWrite,
       Verdict::kFails,
       {"a"},
       {},
       "a is written in place: write a temporary file, fsync it, rename it to "
       "a, and fsync the directory"},
      {CrashFault::kPowerLoss,
       Verdict::kDiverged,
       {"a", "b"},
       {"c"},
       "a, b are written in place: write a temporary file, fsync it, rename it "
       "to the file's name, and fsync the directory"},
      {CrashFault::kDiskFull, Verdict::kFails, {"a"}, {}, "a is written in"},
      {CrashFault::kPowerLoss,
       Verdict::kFails,
       {},
       {"a.tmp"},
       "fsync a.tmp before it is renamed"},
      {CrashFault::kKill,
       Verdict::kLostWork,
       {},
       {"a.tmp"},
       "when the program resumes, read the newest checkpoint that is complete"},
      {CrashFault::kKill,
       Verdict::kFails,
       {},
       {"a.tmp"},
       "when the program resumes, skip files that a crash left unfinished "
       "(ckpt*)"},
      {CrashFault::kKill, Verdict::kDiverged, {}, {"a.tmp"}, ""},
      {CrashFault::kIoError, Verdict::kFails, {}, {"a.tmp"}, ""},
      {CrashFault::kPause, Verdict::kHangs, {"a"}, {}, ""},
      {CrashFault::kRankDeath, Verdict::kFails, {"a"}, {}, ""}};
  for (const Row& row : rows) {
    if (std::string(row.advice).empty()) {
      EXPECT_EQ(AdviceOn(row), "");
    } else {
      EXPECT_THAT(AdviceOn(row), HasSubstr(row.advice));
    }
  }
}

TEST(FindingAdviceTest, PowerLossNeedsTheSyncsThatAreMissing) {
  const auto advice_on = [](std::set<std::string> files,
                            std::set<std::string> renames) {
    // A file that is written in place is lost too, but it holds no work.
    const CrashTrial trial{.fault = CrashFault::kPowerLoss,
                           .in_place_files = {"final"},
                           .unsynced_files = std::move(files),
                           .unsynced_renames = std::move(renames)};
    return AdviceOnFinding({.verdict = Verdict::kLostWork, .trials = {0}},
                           {trial}, {});
  };
  EXPECT_EQ(
      advice_on({"a.tmp"}, {"a.tmp"}),
      "fsync a.tmp before it is renamed, and fsync the directory after that");
  EXPECT_EQ(advice_on({"a.tmp"}, {}), "fsync a.tmp before it is renamed");
  EXPECT_EQ(advice_on({}, {"a.tmp", "b.tmp"}),
            "fsync the directory after a.tmp, b.tmp are renamed");
  EXPECT_EQ(advice_on({"b.tmp"}, {"a.tmp"}),
            "fsync b.tmp before it is renamed, and fsync the directory after "
            "a.tmp is renamed");
  EXPECT_THAT(advice_on({}, {}), HasSubstr("final is written in place"));
}

TEST(FindingAdviceTest, NumbersAreToBeCompared_IfTheOrderOfNamesIsAnotherOne) {
  CrashTrial trial = {.resumed_from = CheckpointVersion{.files = {"ckpt-8"}},
                      .newest_file = "ckpt-12"};
  const TrainerFinding finding = {.verdict = Verdict::kLostWork, .trials = {0}};
  EXPECT_THAT(AdviceOnFinding(finding, {trial}, {}),
              HasSubstr("complete: compare the numbers in the names"));
  trial.newest_file = "ckpt-9";
  EXPECT_THAT(AdviceOnFinding(finding, {trial}, {}), EndsWith("is complete"));
  // Ordered by number or as text, slot-1 comes after slot-0.
  trial.resumed_from->files = {"slot-1"};
  trial.newest_file = "slot-0";
  EXPECT_THAT(AdviceOnFinding(finding, {trial}, {}), EndsWith("is complete"));
}

TEST(FindingAdviceTest, StateIsMissing_IfTheControlDiffersToo) {
  EXPECT_THAT(AdviceOnFinding({.verdict = Verdict::kDiverged,
                               .trials = {0},
                               .differs_in_control = true},
                              {{.in_place_files = {"a"}}}, {}),
              HasSubstr("save the program's whole state in the checkpoint"));
}

TEST(FindingAdviceTest, LogsAreNoResult_IfNothingElseDiffers) {
  const TrainerFinding finding = {.verdict = Verdict::kDiverged,
                                  .trials = {0, 1},
                                  .differs_in_control = true};
  const CrashTrial log = {.different_files = {"train.log"}};
  const CrashTrial both = {.different_files = {"ckpt", "train.log"}};
  const std::set<std::string> logs = {"other.log", "train.log"};
  EXPECT_THAT(AdviceOnFinding(finding, {log, log}, logs),
              HasSubstr("leave train.log out of the results (--result, or "
                        "`trainer.result`): the program appends to it"));
  EXPECT_THAT(AdviceOnFinding(finding, {log, both}, logs),
              HasSubstr("whole state in the checkpoint"));
  EXPECT_THAT(AdviceOnFinding(finding, {log, log}, {}),
              HasSubstr("whole state in the checkpoint"));
  // The log differs because the crash took a part of it.
  CrashTrial cut = log;
  cut.lost_files = {"train.log"};
  EXPECT_THAT(AdviceOnFinding(finding, {log, cut}, logs),
              HasSubstr("whole state in the checkpoint"));
}

}  // namespace
}  // namespace gauntlet
