// Crashes are grouped by the output of their runs, or else by where they occur.
#include "harness/trainer/verdict/crash_findings.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

// A trial and its verdict.
struct Judged {
  CrashTrial trial;
  RecoveryVerdict verdict = RecoveryVerdict::kFails;
};

Judged At(uint64_t operation, const std::string& file, RecoveryVerdict verdict,
          const std::string& last_line = "") {
  Judged judged{.trial = {}, .verdict = verdict};
  judged.trial.id = "kill-" + std::to_string(operation);
  judged.trial.operation = operation;
  judged.trial.file_pattern = file;
  judged.trial.last_line = last_line;
  return judged;
}

std::vector<TrainerFinding> Group(
    const std::vector<Judged>& all,
    const std::vector<uint64_t>& differing_stops = {}) {
  std::vector<CrashTrial> trials;
  std::vector<CrashVerdict> verdicts;
  for (const Judged& one : all) {
    trials.push_back(one.trial);
    verdicts.push_back({one.verdict, "reason of " + one.trial.id,
                        std::vector(one.trial.equal_crashes.size(),
                                    RecoveryVerdict::kRecovered)});
  }
  return GroupFindings(trials, verdicts, differing_stops);
}

std::vector<std::string> Titles(const std::vector<TrainerFinding>& findings) {
  std::vector<std::string> titles;
  for (const TrainerFinding& finding : findings)
    titles.push_back(finding.title);
  return titles;
}

TEST(CrashFindingsTest, OneException_IsOneFinding_WhereverItCrashes) {
  const auto findings =
      Group({At(9, "b", RecoveryVerdict::kFails, "a.Error: at 17"),
             At(4, "a", RecoveryVerdict::kFails, "a.Error: at 3"),
             At(5, "a", RecoveryVerdict::kFails, "b.Error: at 3"),
             At(6, "a", RecoveryVerdict::kRecovered)});
  EXPECT_THAT(Titles(findings),
              ElementsAre("fails: kill at a, b: the run ends with a.Error (2 "
                          "crash states)",
                          "fails: kill at a: the run ends with b.Error (1 "
                          "crash state)"));
  // The simplest crash comes first and provides the reason.
  EXPECT_THAT(findings[0].trials, ElementsAre(1U, 0U));
  EXPECT_EQ(findings[0].reason, "reason of kill-4");
}

TEST(CrashFindingsTest, MessagesThatDifferInNumbers_AreOneFinding) {
  EXPECT_EQ(Group({At(1, "a", RecoveryVerdict::kFails, "loss 0.25 at step 3"),
                   At(2, "a", RecoveryVerdict::kFails, "loss 1e-05 at step 20"),
                   At(3, "b", RecoveryVerdict::kFails, "loss -7 at step 4")})
                .size(),
            1U);
  EXPECT_EQ(Group({At(1, "a", RecoveryVerdict::kFails, "loss 0.25 at step 3"),
                   At(2, "a", RecoveryVerdict::kFails, "no loss at step 3")})
                .size(),
            2U);
}

TEST(CrashFindingsTest, PowerLossUnderExt4IsSimplerThanUnderWeak) {
  Judged weak = At(4, "a", RecoveryVerdict::kFails, "a.Error: at 17");
  weak.trial.id = "weak-4-data0";
  weak.trial.fault = CrashFault::kPowerLoss;
  Judged ext4 = weak;
  ext4.trial.id = "ext4-9-data0";
  ext4.trial.operation = 9;
  ext4.trial.lost = {"write: lost"};
  EXPECT_THAT(Group({weak, ext4})[0].trials, ElementsAre(1U, 0U));
}

// The power fails after a write to b, and the data of a is lost.
TEST(CrashFindingsTest, PowerLossIsNamedByTheFilesThatItBreaks) {
  Judged power = At(9, "b", RecoveryVerdict::kFails, "a.Error: at 17");
  power.trial.fault = CrashFault::kPowerLoss;
  power.trial.lost_files = {"a"};
  EXPECT_THAT(Titles(Group({power})),
              ElementsAre(HasSubstr("fails: power at a: the run")));
  power.trial.lost_files.clear();
  EXPECT_THAT(Titles(Group({power})),
              ElementsAre(HasSubstr("fails: power at b: the run")));
}

TEST(CrashFindingsTest, WithoutMessage_FilesTellCausesApart) {
  const std::vector<Judged> diverged = {At(1, "a", RecoveryVerdict::kDiverged),
                                        At(2, "b", RecoveryVerdict::kDiverged),
                                        At(3, "b", RecoveryVerdict::kDiverged)};
  EXPECT_EQ(Group(diverged).size(), 2U);
  EXPECT_EQ(Group(diverged)[0].reason, "reason of kill-2");
  EXPECT_THAT(Group(diverged)[0].title, HasSubstr("diverged: kill at b"));
  EXPECT_EQ(Group({At(1, "a", RecoveryVerdict::kHangs),
                   At(2, "b", RecoveryVerdict::kHangs)})
                .size(),
            1U);
}

Judged RecoveredFromCheckpointAt(uint64_t operation) {
  Judged judged = At(operation, "a", RecoveryVerdict::kRecovered);
  judged.trial.has_equal_results = true;
  judged.trial.resumed_from = CheckpointVersion{.operation = 1};
  return judged;
}

// After the first kill, the program starts over. The last kill comes after the
// last save.
TEST(CrashFindingsTest, DifferentResumes_AreOneFinding_WithTheirStops) {
  const auto findings = Group(
      {At(1, "a", RecoveryVerdict::kRecovered),
       At(4, "a", RecoveryVerdict::kDiverged),
       At(6, "b", RecoveryVerdict::kDiverged), RecoveredFromCheckpointAt(9)},
      {3, 5});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title,
            "diverged: a resume gives other results, without an error, even "
            "without a crash: stops after operations 3, 5 (2 crash states)");
  EXPECT_EQ(findings[0].reason,
            "the crash is not the cause: the control stops the program between "
            "two saves and resumes it, and its results differ too (stops after "
            "operations 3, 5); 2 of 4 kills recovered; reason of kill-4");
  EXPECT_TRUE(findings[0].differs_in_control);
}

TEST(CrashFindingsTest, ReasonCountsTheKillsForJudging) {
  Judged judging = At(1, "a", RecoveryVerdict::kRecovered);
  judging.trial.is_for_judging = true;
  EXPECT_THAT(Group({judging, At(4, "a", RecoveryVerdict::kDiverged),
                     At(5, "a", RecoveryVerdict::kDiverged)},
                    {3})[0]
                  .reason,
              HasSubstr("; of 3 kills (2 requested, 1 for comparison only), 1 "
                        "recovered; reason of kill-4"));
}

TEST(CrashFindingsTest, IfAKillBetweenRecovers_StopsShowNothing) {
  const std::vector<Judged> all = {At(4, "a", RecoveryVerdict::kDiverged),
                                   RecoveredFromCheckpointAt(5),
                                   At(6, "b", RecoveryVerdict::kDiverged)};
  const auto findings = Group(all, {4});
  EXPECT_EQ(Titles(findings), Titles(Group(all)));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].reason, "reason of kill-4");
}

// kill-5 leaves the same directories as a power loss. The trial is named after
// the power loss, which loses work.
TEST(CrashFindingsTest, KillCountsAsEvidence_EvenIfATrialIsNamedOtherwise) {
  Judged power = RecoveredFromCheckpointAt(9);
  power.trial.id = "ext4-9-data0";
  power.trial.fault = CrashFault::kPowerLoss;
  power.verdict = RecoveryVerdict::kLostWork;
  power.trial.equal_crashes = {{.id = "kill-5", .operation = 5}};
  const std::vector<Judged> all = {At(4, "a", RecoveryVerdict::kDiverged),
                                   power,
                                   At(6, "b", RecoveryVerdict::kDiverged)};
  EXPECT_EQ(Titles(Group(all, {4})), Titles(Group(all)));
}

TEST(CrashFindingsTest, WorstComesFirst_ThenMostFrequent) {
  EXPECT_THAT(Titles(Group({At(1, "a", RecoveryVerdict::kLostWork),
                            At(2, "a", RecoveryVerdict::kLostWork),
                            At(3, "a", RecoveryVerdict::kDiverged),
                            At(4, "b", RecoveryVerdict::kDiverged),
                            At(5, "b", RecoveryVerdict::kDiverged),
                            At(6, "c", RecoveryVerdict::kHangs)})),
              ElementsAre(HasSubstr("hangs: kill at c"),
                          HasSubstr("diverged: kill at b"),
                          HasSubstr("diverged: kill at a"),
                          HasSubstr("lost-work: kill at a")));
}

TEST(CrashFindingsTest, TitleExplainsPatterns) {
  EXPECT_THAT(Titles(Group({At(1, "s", RecoveryVerdict::kHangs),
                            At(2, "s*", RecoveryVerdict::kHangs)})),
              ElementsAre(HasSubstr(
                  "hangs: kill at s, s* (* stands for numbers): the run")));
}

TEST(CrashFindingsTest, TitlesNameTheMessage_IfThereIsNoException) {
  EXPECT_THAT(
      Titles(Group({At(1, "a", RecoveryVerdict::kFails, "loss 1e-05 at step 3"),
                    At(2, "a", RecoveryVerdict::kFails, std::string(80, 'x')),
                    At(3, "a", RecoveryVerdict::kFails),
                    At(4, "a", RecoveryVerdict::kHangs, "step 3")})),
      UnorderedElementsAre(
          "fails: kill at a: the run ends with \"loss # at step #\" (1 crash "
          "state)",
          "fails: kill at a: the run ends with \"" + std::string(60, 'x') +
              "…\" (1 crash state)",
          "fails: kill at a: the run ends with an error (1 crash state)",
          "hangs: kill at a: the run does not end; its last line is \"step #\" "
          "(1 crash state)"));
}

// Two power losses lose data of the same file, but at operations on different
// files.
TEST(CrashFindingsTest, EqualTitlesNameTheSimplestCrash) {
  std::vector<Judged> all;
  for (const std::string file : {"a", "b"}) {
    Judged power = At(4, file, RecoveryVerdict::kDiverged);
    power.trial.id = "ext4-4-" + file;
    power.trial.point = "power loss after a rename";
    power.trial.fault = CrashFault::kPowerLoss;
    power.trial.lost_files = {"lost"};
    all.push_back(power);
  }
  EXPECT_THAT(
      Titles(Group(all)),
      ElementsAre(
          "diverged: power at lost: the run ends with other results, without "
          "an error, first ext4-4-a: power loss after a rename (1 crash state)",
          "diverged: power at lost: the run ends with other results, without "
          "an error, first ext4-4-b: power loss after a rename (1 crash "
          "state)"));
  all.pop_back();
  EXPECT_THAT(Titles(Group(all)), ElementsAre(Not(HasSubstr("first"))));
}

TEST(CrashFindingsTest, KillForJudging_IsNoFinding) {
  Judged judging = At(1, "a", RecoveryVerdict::kFails);
  judging.trial.is_for_judging = true;
  EXPECT_TRUE(Group({judging}).empty());
}

}  // namespace
}  // namespace gauntlet
