// Texts of findings that readers of reports misunderstood.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/judge.h"
#include "harness/record/base_name.h"
#include "tests/harness/oracle/scripted_cluster.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using K = RecordKind;

// Returns the messages of the findings of that name.
std::vector<std::string> MessagesOf(const Record& record,
                                    const std::string& name) {
  std::vector<std::string> messages;
  for (const InvariantReport& report : Judge(record).invariants) {
    for (const Finding& finding : report.findings) {
      if (finding.name == name) messages.push_back(finding.message);
    }
  }
  return messages;
}

// Returns the message of the first finding of that name; "" if there is none.
std::string MessageOf(const Record& record, const std::string& name) {
  const std::vector<std::string> messages = MessagesOf(record, name);
  return messages.empty() ? "" : messages.front();
}

std::string MessageOf(const ScriptedRun& run, const std::string& name) {
  return MessageOf(run.record(), name);
}

TEST(FindingTextsTest, PositionsHaveTheSameUnits) {
  ScriptedRun run = RecoveredRun();
  run.events.At(kNextChief, K::kResumed).position = 0;
  const std::string message = MessageOf(run, "position");
  EXPECT_THAT(message, HasSubstr("position epoch 1, sample 0, expected epoch "))
      << message;
}

TEST(FindingTextsTest, OnlyAWaitThatReachedItsLimitHasADuration) {
  const auto message = [](RecordReason reason) {
    ScriptedCluster cluster;
    cluster.Wait(1'000).GivesUp(0, 1, reason, 1'000);
    cluster.Leaves(0, RecordReason::kLostWorker);
    return MessageOf(cluster.record(), "unexplained-loss");
  };
  EXPECT_THAT(message(RecordReason::kClosed), HasSubstr("lost (closed), and "));
  EXPECT_THAT(message(RecordReason::kSilent),
              HasSubstr("lost (silent, after 1.000 s), and "));
}

// Returns a run whose chief resumes with another state than it has read. The
// checkpoint is still on the disk.
Record ChangedLoad() {
  ScriptedRun run = RecoveredRun();
  RecordEvent& resumed = run.events.At(kNextChief, K::kResumed);
  resumed.digest = kOtherDigest;
  const std::string name(BaseName(resumed.path));
  Record record = run.record();
  record.left.checkpoints = {{.name = name, .valid = true}};
  return record;
}

TEST(FindingTextsTest,
     ChangedLoadStatesThatTheCheckpointIsIntact_IfItVerified) {
  constexpr const char* kIntact =
      "; the checkpoint is intact, the state changed after it was read";
  Record record = ChangedLoad();
  EXPECT_THAT(MessageOf(record, "changed-load"), EndsWith(kIntact));
  record.left.checkpoints.clear();
  EXPECT_THAT(MessageOf(record, "changed-load"), EndsWith(" was saved"));
  ScriptedRun run = RecoveredRun();
  run.events.At(kNextChief, K::kResumed).digest = kOtherDigest;
  run.events.At(kNextChief, K::kLoaded).digest = kOtherDigest;
  EXPECT_THAT(MessageOf(run, "changed-load"), EndsWith(" was saved"));
}

TEST(FindingTextsTest, ChangedLoadNamesTheDamageToTheCheckpoint) {
  Record record = ChangedLoad();
  StoredCheckpoint& left = record.left.checkpoints.front();
  left.valid = false;
  left.reason = "torn";
  EXPECT_THAT(MessageOf(record, "changed-load"),
              EndsWith("; " + left.name + " does not verify (torn)"));
  record.incarnations[0].events.push_back(
      {.kind = K::kDamaged,
       .t_ns = record.incarnations[0].events.back().t_ns,
       .path = "/ckpt/" + left.name + ".tmp/model.safetensors",
       .detail = "rot"});
  EXPECT_THAT(MessageOf(record, "changed-load"),
              EndsWith("; model.safetensors of " + left.name +
                       " was damaged by fault rot"));
}

TEST(FindingTextsTest, OnlyAFaultDamagesACheckpoint) {
  ScriptedRun run = RefusedRun();
  run.events.RemoveIf([](const EmittedEvent& one) {
    return one.event.kind == K::kDamaged || one.event.kind == K::kRejected;
  });
  std::vector<std::string> messages =
      MessagesOf(run.record(), "unneeded-refusal");
  ASSERT_FALSE(messages.empty());
  EXPECT_EQ(messages.front(),
            "refused, but no fault damaged step-000000002-g1, which was "
            "acknowledged and does not verify");
  EXPECT_THAT(messages, Each(HasSubstr(", which was acknowledged")));
}

TEST(FindingTextsTest, RefusalWithoutAnyCheckpointIsOneFinding) {
  ScriptedRun run = RefusedRun();
  run.facts.left.checkpoints.clear();
  run.events.RemoveIf([](const EmittedEvent& one) {
    const K kind = one.event.kind;
    return kind == K::kSaveBegin || kind == K::kSaveAcknowledged ||
           kind == K::kDamaged || kind == K::kRejected;
  });
  EXPECT_THAT(MessagesOf(run.record(), "unneeded-refusal"),
              ElementsAre("refused, but no fault damaged a checkpoint"));
}

TEST(FindingTextsTest, NewGenerationFindsNothingOfAnAcknowledgedSave) {
  ScriptedRun run = RecoveredRun();
  BeginStaleSave(run);
  run.events.InsertAfter(kNextChief, K::kGeneration, 0, kChief,
                         StaleSave(K::kSaveAcknowledged));
  EXPECT_EQ(MessageOf(run, "fenced-not-found"),
            "step-000000006-g1 was acknowledged, but worker 0, incarnation 2 "
            "claimed generation 2 and found nothing of it");
}

TEST(FindingTextsTest, LostCheckpointIsMissingOrDoesNotVerify) {
  ScriptedRun run = UndisturbedRun();
  std::vector<StoredCheckpoint>& left = run.facts.left.checkpoints;
  left.back().valid = false;
  EXPECT_THAT(MessageOf(run, "lost-checkpoint"),
              EndsWith(" after the run it does not verify"));
  left.pop_back();
  EXPECT_THAT(MessageOf(run, "lost-checkpoint"),
              EndsWith(" after the run it is missing"));
}

TEST(FindingTextsTest, LateLossNamesTheHungProcessThatDeclaredIt) {
  ScriptedCluster cluster;
  cluster.record().expect.detected_in_max_ns = 2'000 * ScriptedCluster::kMs;
  cluster.Fire(1, {.id = "stuck", .kind = "hang", .point = "step.begin"})
      .Wait(10'000)
      .GivesUp(0, 1, RecordReason::kDeadline, 10'000)
      .Leaves(0, RecordReason::kLostWorker)
      .GivesUp(1, 0, RecordReason::kClosed, 10'000)
      .LauncherKills(1);
  const std::vector<std::string> late = MessagesOf(cluster.record(), "late");
  EXPECT_THAT(late, Contains(AllOf(HasSubstr("rank 1 was declared lost"),
                                   EndsWith(" at most 2.000 s"))));
  EXPECT_THAT(late,
              Contains(AllOf(HasSubstr("rank 0 was declared lost"),
                             EndsWith("; the time counts from the fault that "
                                      "held up worker 1, incarnation 1, which "
                                      "declared the loss"))));
}

TEST(FindingTextsTest, StepOutOfOrderNamesBothPredecessors) {
  ScriptedRun run = UndisturbedRun();
  run.events.Remove(kChief, K::kStep, 2);
  EXPECT_THAT(MessageOf(run, "steps"),
              HasSubstr("came after step 2, expected after step 3"));
}

TEST(FindingTextsTest, ExtraStepsAreCounted) {
  ScriptedRun run = UndisturbedRun();
  run.facts.launchers.back().result->steps = 9;
  EXPECT_THAT(MessageOf(run, "extra-steps"),
              HasSubstr("9 by the result, expected 8 as in the reference run"));
}

TEST(FindingTextsTest, TimelineHasPowerLossesAndRequeues) {
  const Verdict verdict = Judge(CutRun("ext4").record());
  EXPECT_THAT(verdict.timeline, Contains("all hosts lose power"));
  EXPECT_THAT(verdict.timeline,
              Contains("launcher  is started again, as a scheduler requeues a "
                       "job"));
}

TEST(FindingTextsTest, TimelineTellsAPlannedLaunchFromARequeue) {
  Record record = CutRun("ext4").record();
  record.launchers.back().planned = 1;
  EXPECT_THAT(Judge(record).timeline,
              AllOf(Contains("launcher  is started again, as planned (entry 2 "
                             "of launches)"),
                    Not(Contains(HasSubstr("requeues a job")))));
}

}  // namespace
}  // namespace gauntlet
