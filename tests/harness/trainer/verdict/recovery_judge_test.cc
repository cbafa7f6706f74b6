#include "harness/trainer/verdict/recovery_judge.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kOperations = 100;

// Two versions of a checkpoint: operations 10 to 20 write ckpt-a, operations 50
// to 60 write ckpt-b.
CheckpointVersion A() {
  return {
      .operation = 20, .begin = 10, .files = {"ckpt-a"}, .own_file = "ckpt-a"};
}
CheckpointVersion B() {
  return {
      .operation = 60, .begin = 50, .files = {"ckpt-b"}, .own_file = "ckpt-b"};
}
CheckpointVersion Beginning() { return {}; }

CrashTrial Equal(CrashFault fault, uint64_t operation,
                 std::optional<CheckpointVersion> from) {
  CrashTrial trial;
  trial.fault = fault;
  trial.operation = operation;
  trial.has_equal_results = true;
  trial.resumed_from = std::move(from);
  return trial;
}
CrashTrial Kill(uint64_t operation, std::optional<CheckpointVersion> from) {
  return Equal(CrashFault::kKill, operation, std::move(from));
}
CrashTrial PowerLoss(uint64_t operation,
                     std::optional<CheckpointVersion> from) {
  return Equal(CrashFault::kPowerLoss, operation, std::move(from));
}

std::vector<std::string> Verdicts(const std::vector<CrashTrial>& trials) {
  std::vector<std::string> names;
  for (const CrashVerdict& verdict : JudgeTrials(trials, kOperations))
    names.emplace_back(RecoveryVerdictName(verdict.verdict));
  return names;
}

TEST(RecoveryJudgeTest, NewestCompleteCheckpointIsRecovered) {
  EXPECT_THAT(Verdicts({Kill(5, Beginning()), Kill(19, Beginning()),
                        Kill(20, A()), Kill(59, A()), Kill(60, B())}),
              ElementsAre("recovered", "recovered", "recovered", "recovered",
                          "recovered"));
}

TEST(RecoveryJudgeTest, OlderCheckpointAfterKillIsLostWork) {
  const std::vector<CrashTrial> trials = {Kill(20, A()), Kill(60, B()),
                                          Kill(70, A()), Kill(80, Beginning())};
  EXPECT_THAT(Verdicts(trials),
              ElementsAre("recovered", "recovered", "lost-work", "lost-work"));
  EXPECT_EQ(JudgeTrials(trials, kOperations)[2].reason,
            "resumed from ckpt-a, though ckpt-b was complete after operation "
            "60; the work of 1 checkpoint is lost");
  EXPECT_THAT(JudgeTrials(trials, kOperations)[3].reason,
              AllOf(HasSubstr("resumed from the beginning"),
                    HasSubstr("; all work is lost: 2 checkpoints")));
}

// Resumes from the first two saves give other results.
TEST(RecoveryJudgeTest, LostWorkCountsSavesThatResumeWithOtherResults) {
  std::vector<CrashTrial> trials;
  for (const uint64_t operation : {20, 40, 60}) {
    trials.push_back(Kill(operation, CheckpointVersion{.operation = operation,
                                                       .begin = operation - 10,
                                                       .files = {"ckpt"}}));
    trials.back().has_equal_results = operation == 60;
  }
  trials.push_back(PowerLoss(kOperations, Beginning()));
  EXPECT_EQ(JudgeTrials(trials, kOperations)[3].reason,
            "resumed from the beginning, though ckpt was complete after "
            "operation 60; all work is lost: 3 checkpoints");
}

TEST(RecoveryJudgeTest, DistinguishesTwoContentsOfOneFile) {
  CheckpointVersion first = A();
  CheckpointVersion second = B();
  first.files = second.files = {"ckpt"};
  first.own_file = second.own_file = "";
  EXPECT_EQ(
      JudgeTrials({Kill(20, first), Kill(60, second), Kill(70, first)},
                  kOperations)[2]
          .reason,
      "resumed from ckpt as written by operations 10 to 20, though its newer "
      "content was complete after operation 60; the work of 1 checkpoint is "
      "lost");
}

TEST(RecoveryJudgeTest, CheckpointDestroyedByTheNextIsLostWork) {
  EXPECT_THAT(Verdicts({Kill(20, A()), Kill(55, Beginning()), Kill(60, B())}),
              ElementsAre("recovered", "lost-work", "recovered"));
}

TEST(RecoveryJudgeTest, VersionMustBeDurableWhenTheNextOneBegins) {
  // a is complete from operation 20 on, and must be durable when b begins, at
  // 50.
  EXPECT_THAT(
      Verdicts({Kill(20, A()), Kill(60, B()), PowerLoss(20, Beginning()),
                PowerLoss(49, Beginning()), PowerLoss(50, Beginning())}),
      ElementsAre("recovered", "recovered", "recovered", "recovered",
                  "lost-work"));
}

TEST(RecoveryJudgeTest, LastCheckpointMustBeDurableAtTheEnd) {
  EXPECT_THAT(Verdicts({Kill(20, A()), Kill(60, B()), PowerLoss(99, A()),
                        PowerLoss(100, A())}),
              ElementsAre("recovered", "recovered", "recovered", "lost-work"));
}

TEST(RecoveryJudgeTest, VersionsUnusedAfterKills_AreNotRequired) {
  EXPECT_THAT(Verdicts({PowerLoss(60, B()), PowerLoss(100, Beginning())}),
              ElementsAre("recovered", "recovered"));
}

TEST(RecoveryJudgeTest, PrintedStepsTakePrecedence) {
  CrashTrial newer = Kill(60, A());
  newer.resumed_step = 20;
  CrashTrial older = Kill(70, B());
  older.resumed_step = 10;
  const std::vector<CrashTrial> trials = {newer, older};
  EXPECT_THAT(Verdicts(trials), ElementsAre("recovered", "lost-work"));
  EXPECT_EQ(JudgeTrials(trials, kOperations)[1].reason,
            "resumed from step 10, though step 20 was complete after operation "
            "60; 10 steps are recomputed");
}

TEST(RecoveryJudgeTest, UnknownResumePointIsNotRecovered) {
  EXPECT_THAT(Verdicts({Kill(20, A()), Kill(70, std::nullopt)}),
              ElementsAre("recovered", "resume-point-unknown"));
}

// Returns a run that makes this file, and whose reads prove nothing.
CrashTrial Making(uint64_t operation, const std::string& file) {
  CrashTrial trial = Kill(operation, std::nullopt);
  trial.end.made = {{.directory = 0, .path = file}};
  return trial;
}

TEST(RecoveryJudgeTest, CheckpointThatIsMadeAgainIsLostWork) {
  const std::vector<CrashTrial> trials = {
      Kill(20, A()), Kill(60, B()), Making(70, "ckpt-b"), Making(50, "ckpt-b")};
  EXPECT_THAT(Verdicts(trials),
              ElementsAre("recovered", "recovered", "lost-work",
                          "resume-point-unknown"));
  EXPECT_EQ(JudgeTrials(trials, kOperations)[2].reason,
            "made ckpt-b again, which was complete after operation 60");
}

TEST(RecoveryJudgeTest, CheckpointThatIsMadeAgain_NamesThePrintedStep) {
  std::vector<CrashTrial> trials = {Kill(20, A()), Kill(60, B()),
                                    Making(70, "ckpt-b")};
  trials[0].resumed_step = 10;
  trials[1].resumed_step = 20;
  for (const auto& [step, text] : std::map<int, std::string>{
           {0, "started from the beginning"}, {10, "resumed from step 10"}}) {
    trials[2].resumed_step = step;
    EXPECT_EQ(JudgeTrials(trials, kOperations)[2].reason,
              text +
                  ", and made ckpt-b again, which was complete after "
                  "operation 60; " +
                  std::to_string(20 - step) + " steps are recomputed");
  }
}

TEST(RecoveryJudgeTest, RepeatedCheckpointOfASeriesIsLostWork) {
  CrashTrial trial = Kill(90, B());
  trial.made_again = {{.path = "config"}};
  CheckpointVersion b = B();
  b.files = {"ckpt-2"};
  b.own_file = "ckpt-2";
  CrashTrial numbered = Kill(90, b);
  numbered.made_again = {{.path = "ckpt-3", .finished = 90}};
  CrashTrial unfinished = numbered;
  unfinished.made_again = {{.path = "ckpt-3", .finished = 91}};
  // The order of names as text puts ckpt-2 after ckpt-10.
  CrashTrial by_text = numbered;
  by_text.made_again[0].path = by_text.newest_file = "ckpt-10";
  by_text.resumed_step = 2;
  EXPECT_EQ(
      JudgeTrials({Kill(20, A()), Kill(60, b), by_text}, kOperations)[2].reason,
      "resumed from step 2 (ckpt-2), though the newest complete "
      "checkpoint was ckpt-10; made ckpt-10 again; 58 steps are "
      "recomputed; as text, the name ckpt-2 comes after ckpt-10");
  // In the order of numbers, slot-1 comes after slot-0, too.
  CrashTrial by_slot = by_text;
  by_slot.resumed_from->files = {"slot-1"};
  by_slot.newest_file = "slot-0";
  EXPECT_EQ(
      JudgeTrials({Kill(20, A()), Kill(60, b), by_slot}, kOperations)[2].reason,
      "resumed from step 2 (slot-1), though the newest complete checkpoint was "
      "slot-0; made ckpt-10 again; 58 steps are recomputed");
  CrashTrial from_start = by_text;
  from_start.resumed_from = Beginning();
  from_start.resumed_step = 0;
  EXPECT_EQ(
      JudgeTrials({Kill(20, A()), Kill(60, b), from_start}, kOperations)[2]
          .reason,
      "started from the beginning, though the newest complete checkpoint "
      "was ckpt-10; made ckpt-10 again; 60 steps are recomputed");
  // The run read the newest file, but resumed from an older step.
  CrashTrial newest_read = by_text;
  newest_read.newest_file = "ckpt-2";
  EXPECT_EQ(
      JudgeTrials({Kill(20, A()), Kill(60, b), newest_read}, kOperations)[2]
          .reason,
      "resumed from step 2, and made ckpt-10 again, which was there and "
      "whole; 58 steps are recomputed");
  // Other kinds of files may be made again each time.
  EXPECT_THAT(Verdicts({Kill(20, A()), Kill(60, B()), trial}),
              ElementsAre("recovered", "recovered", "recovered"));
  EXPECT_THAT(Verdicts({Kill(20, A()), Kill(60, b), numbered, unfinished}),
              ElementsAre("recovered", "recovered", "lost-work", "recovered"));
}

TEST(RecoveryJudgeTest, EachEqualCrashIsJudgedByItsOwnFaultAndOperation) {
  // Before b begins, a power loss may lose a, but a kill must not.
  CrashTrial trial = PowerLoss(49, Beginning());
  trial.equal_crashes = {
      {.id = "kill-5", .fault = CrashFault::kKill, .operation = 5},
      {.id = "torn-40-1", .fault = CrashFault::kTornWrite, .operation = 40}};
  const CrashVerdict verdict =
      JudgeTrials({Kill(20, A()), Kill(60, B()), trial}, kOperations)[2];
  EXPECT_EQ(verdict.verdict, RecoveryVerdict::kRecovered);
  EXPECT_THAT(verdict.equal_crashes, ElementsAre(RecoveryVerdict::kRecovered,
                                                 RecoveryVerdict::kLostWork));
}

TEST(RecoveryJudgeTest, KillEqualToPowerLossShowsCompleteCheckpoint) {
  CrashTrial first = PowerLoss(10, A());
  first.equal_crashes = {
      {.id = "kill-20", .fault = CrashFault::kKill, .operation = 20}};
  EXPECT_THAT(Verdicts({first, Kill(30, Beginning())}),
              ElementsAre("recovered", "lost-work"));
}

TEST(RecoveryJudgeTest, FirstOfEqualKillsShowsCompleteCheckpoint) {
  CrashTrial late = Kill(40, A());
  late.equal_crashes = {
      {.id = "kill-20", .fault = CrashFault::kKill, .operation = 20}};
  EXPECT_THAT(Verdicts({late, Kill(30, Beginning())}),
              ElementsAre("recovered", "lost-work"));
}

// The program removes the old checkpoint first, so that its folder is as it was
// at the beginning.
TEST(RecoveryJudgeTest, LastOfEqualKillsLosesCheckpoint) {
  CrashTrial empty = Kill(0, Beginning());
  empty.equal_crashes = {
      {.id = "kill-30", .fault = CrashFault::kKill, .operation = 30}};
  const CrashVerdict verdict =
      JudgeTrials({empty, Kill(20, A())}, kOperations)[0];
  EXPECT_EQ(verdict.verdict, RecoveryVerdict::kRecovered);
  EXPECT_THAT(verdict.equal_crashes, ElementsAre(RecoveryVerdict::kLostWork));
}

TEST(RecoveryJudgeTest, FileOfEachVersionIsAlwaysMadeAgain) {
  CheckpointVersion first = A();
  CheckpointVersion second = B();
  first.files = second.files = {"ckpt"};
  first.own_file = second.own_file = "";
  CrashTrial resumed = Kill(70, second);
  resumed.end.made = {{.directory = 0, .path = "ckpt"}};
  EXPECT_THAT(Verdicts({Kill(20, first), Kill(60, second), resumed}),
              ElementsAre("recovered", "recovered", "recovered"));
}

TEST(RecoveryJudgeTest, OtherResultsDiverge) {
  CrashTrial trial = Kill(70, A());
  trial.has_equal_results = false;
  trial.differences = {"model: tensor `w` differs"};
  const CrashVerdict verdict = JudgeTrials({trial}, kOperations)[0];
  EXPECT_EQ(verdict.verdict, RecoveryVerdict::kDiverged);
  EXPECT_EQ(verdict.reason,
            "the resumed run ends without an error and with other results: "
            "model: tensor `w` differs");
}

// Returns a run that ends with an error and has other results.
CrashTrial Failed(uint64_t operation) {
  CrashTrial trial = Kill(operation, std::nullopt);
  trial.has_equal_results = false;
  trial.end.exit_code = 1;
  trial.last_line = "no usable checkpoint";
  return trial;
}

TEST(RecoveryJudgeTest, ErrorsFail) {
  const CrashVerdict verdict = JudgeTrials({Failed(5)}, kOperations)[0];
  EXPECT_EQ(verdict.verdict, RecoveryVerdict::kFails);
  EXPECT_EQ(verdict.reason,
            "the resumed run ends with exit code 1: no usable checkpoint");
}

TEST(RecoveryJudgeTest, MessageWithoutCompleteCheckpointIsRefused) {
  CrashTrial early = Failed(5);
  early.has_reason = true;
  CrashTrial late = Failed(70);
  late.has_reason = true;
  EXPECT_THAT(Verdicts({early, Kill(20, A()), late}),
              ElementsAre("refused", "recovered", "fails"));
}

TEST(RecoveryJudgeTest, FaultWithoutEffect_IsNotRecovered) {
  CrashTrial trial = Equal(CrashFault::kIoError, 20, A());
  trial.survived_fault = true;
  EXPECT_THAT(Verdicts({trial}), ElementsAre("recovered"));
  trial.has_happened = false;
  EXPECT_THAT(Verdicts({trial}), ElementsAre("resume-point-unknown"));
}

TEST(RecoveryJudgeTest, SignalsFailAlwaysAndTimeLimitsHang) {
  CrashTrial signalled = Failed(5);
  signalled.has_reason = true;
  signalled.end.signal = 11;
  CrashTrial hanging = Failed(5);
  hanging.end.is_timed_out = true;
  EXPECT_THAT(Verdicts({signalled, hanging}), ElementsAre("fails", "hangs"));
}

}  // namespace
}  // namespace gauntlet
