// What is owed of saves: where a run goes on, what is loaded, kept and deleted.
#include <gtest/gtest.h>

#include "harness/oracle/generation.h"
#include "tests/harness/oracle/record_builder.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using K = RecordKind;

TEST(BackupDeletedTest, AFinishedRunThatWasToldToDeletesItsBackup) {
  Record record = UndisturbedRun();
  record.setup.delete_at_success = true;
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 2u)
      << "neither said so nor did it";
  record.left.checkpoints.clear();
  EventOf(record, 0, 1, K::kLifeEnd, 0).kind = K::kBackupDeleted;
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 1u)
      << "before its result was acknowledged";
  std::vector<RecordEvent>& events = LifeOf(record, 0, 1).events;
  events.insert(events.end() - 1, {.kind = K::kResultAcknowledged});
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 0u);
  record.setup.delete_at_success = false;
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 1u)
      << "was to be kept";
}

TEST(BackupDeletedTest, AChiefThatIsKilledInTheDeletionOwesNone) {
  Record record = UndisturbedRun();
  record.setup.delete_at_success = true;
  LifeOf(record, 0, 1).events.pop_back();
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 0u);
}

// The power goes after the chief's word; the next life finishes in peace.
// A cut that came too late to keep the acknowledgement from it excuses nothing.
TEST(BackupDeletedTest, OwesNone_IfACutKeptTheAcknowledgementFromTheChief) {
  Record record = UndisturbedRun();
  record.setup.delete_at_success = true;
  record.faults.push_back({.id = "cut", .kind = "asymmetric_partition"});
  std::vector<RecordEvent>& events = LifeOf(record, 0, 1).events;
  events.insert(events.end() - 1, {.kind = K::kFaultFired, .detail = "cut"});
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 0u);
  record.faults.back().kind = "connection_reset";
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 2u);
  record.faults.back().kind = "asymmetric_partition";
  events.insert(events.end() - 1, {.kind = K::kResultAcknowledged});
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 2u);
}

TEST(BackupDeletedTest, AnEarlierLifeThatFinishedAndDiedExcusesNothing) {
  Record record = RecoveredRun();
  record.setup.delete_at_success = true;
  LifeOf(record, 0, 1).events.back() = {.kind = K::kFinished, .step = 8};
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 2u);
  LifeOf(record, 0, 2).events.pop_back();
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 0u);
}

// Cut off and taken for dead, it claims what its successor is deleting.
TEST(BackupDeletedTest, ALateSurvivorThatComesMeanwhileExcusesIt) {
  Record record = RecoveredRun();
  record.setup.delete_at_success = true;
  ASSERT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 2u);
  const int64_t finished = EventOf(record, 0, 2, K::kFinished, 0).t_ns;
  std::vector<RecordEvent>& events = LifeOf(record, 0, 1).events;
  events.push_back({.kind = K::kGeneration, .t_ns = finished});
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 2u);
  events.back().t_ns = finished + 1;
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 0u);
  events.back().kind = K::kWorkerLost;
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 2u);
  LifeOf(record, 0, 2)
      .events.push_back({.kind = K::kFencedOut, .t_ns = finished + 1});
  EXPECT_LT(ReportOf(record, "checkpoints-deleted").breaches, 2u);
}

TEST(BackupDeletedTest, AnErrorAtEveryHitOfAPointElsewhereExcusesNothing) {
  Record record = UndisturbedRun();
  record.setup.delete_at_success = true;
  record.faults.push_back({.id = "no", .kind = "errno", .always = true});
  RecordEvent& fired = EventOf(record, 0, 1, K::kSaveBegin, 0);
  fired = {
      .kind = K::kFaultFired, .path = "ckpt.retire.rename", .detail = "no"};
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 0u);
  fired.path = "ckpt.shard.write";
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 2u);
}

TEST(BackupDeletedTest, AnErrorThatThePlanGaveInTheDeletionExcusesIt) {
  Record record = UndisturbedRun();
  record.setup.delete_at_success = true;
  record.faults.push_back({.id = "no", .kind = "errno"});
  const RecordEvent fired = {.kind = K::kFaultFired, .detail = "no"};
  LifeOf(record, 0, 1)
      .events.insert(LifeOf(record, 0, 1).events.end() - 1, fired);
  EXPECT_EQ(ReportOf(record, "checkpoints-deleted").breaches, 0u);
  record.faults.back().kind = "slow";
  EXPECT_GT(ReportOf(record, "checkpoints-deleted").breaches, 0u);
}

TEST(StoreTest, WhatAClaimFoundVoidTakesNoOthersPlace) {
  Record record = RecoveredRun();
  record.setup.keep = 4;
  StoredCheckpoint copy = record.left.checkpoints.front();
  copy.name = "step-000000002-g9";
  record.left.checkpoints.push_back(copy);
  ASSERT_EQ(ReportOf(record, "store").breaches, 1u);
  EventOf(record, 0, 2, K::kLifeBegin, 0) = {.kind = K::kFencedFound,
                                             .path = "/s/step-000000002-g9"};
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
}

TEST(StoreTest, VoidCheckpointThatALaterClaimResumesFrom_CountsAgain) {
  Record record = RecoveredRun();
  record.setup.keep = 4;
  StoredCheckpoint copy = record.left.checkpoints.front();
  copy.name = "step-000000002-g9";
  record.left.checkpoints.push_back(copy);
  EventOf(record, 0, 2, K::kLifeBegin, 0) = {.kind = K::kFencedFound,
                                             .path = "/s/step-000000002-g9"};
  std::vector<RecordEvent>& events = LifeOf(record, 0, 2).events;
  events.insert(events.end() - 1,
                {.kind = K::kGeneration,
                 .t_ns = events.back().t_ns,
                 .generation = GenerationOf(LifeOf(record, 0, 2)),
                 .path = "/s/step-000000002-g9"});
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u);
}

// The first life retires step 2, at a time before or after the claim of the
// second, which resumes from that step or from another one.
TEST(StoreTest,
     CheckpointThatANewerGenerationClaimed_IsNotRetiredByAnOlderOne) {
  struct Case {
    int64_t after_ns;
    std::string_view parent;
    uint64_t breaches;
  };
  for (const Case& one :
       {Case{1, "/s/step-000000002-g1", 1}, Case{-1, "/s/step-000000002-g1", 0},
        Case{1, "/s/step-000000004-g1", 0}}) {
    Record record = RecoveredRun();
    RecordEvent& claim = EventOf(record, 0, 2, K::kLifeBegin, 0);
    claim.kind = K::kGeneration;
    claim.path = one.parent;
    RecordEvent& evaluated = EventOf(record, 0, 1, K::kEvaluated, 0);
    evaluated = {.kind = K::kRetired,
                 .t_ns = claim.t_ns + one.after_ns,
                 .generation = evaluated.generation,
                 .path = "/s/step-000000002-g1"};
    EXPECT_EQ(ReportOf(record, "store").breaches, one.breaches)
        << one.after_ns << " " << one.parent;
  }
}

// An undisturbed run that is not finite from step 3 on, and keeps one: saves of
// steps 2, 4, 6 and 8, of which those of 2 and 8 are left.
Record NotFiniteRun() {
  Record record = UndisturbedRun();
  record.setup.keep = 1;
  for (size_t nth = 1; nth < 4; ++nth) {
    EventOf(record, 0, 1, K::kSaveAcknowledged, nth).count = 3;
  }
  std::erase_if(record.left.checkpoints, [](const StoredCheckpoint& one) {
    return one.step == 4 || one.step == 6;
  });
  record.left.checkpoints.back().not_finite_since = 3;
  return record;
}

TEST(StoreTest, TheNewestFiniteCheckpointStaysBesideTheNewest) {
  Record record = NotFiniteRun();
  ASSERT_EQ(record.left.checkpoints.size(), 2u);
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  record.left.checkpoints.erase(record.left.checkpoints.begin());
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u) << "finite-lost";
}

TEST(StoreTest, NoOtherCheckpointStaysBesideTheNewest) {
  Record record = NotFiniteRun();
  StoredCheckpoint more = record.left.checkpoints.back();
  more.name = "step-000000006-g1";
  more.step = 6;
  more.digest = DigestAt(6, RecordPhase::kInEpoch);
  record.left.checkpoints.push_back(more);
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u) << "retention";
  record = NotFiniteRun();
  record.left.checkpoints.back().not_finite_since = 0;
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u)
      << "the newest is finite: step 2 has no reason to be there";
}

TEST(StoreTest, TheNewestFiniteCheckpointIsNeverRetired) {
  Record record = NotFiniteRun();
  RecordEvent& evaluated = EventOf(record, 0, 1, K::kEvaluated, 1);
  evaluated = {.kind = K::kRetired,
               .t_ns = evaluated.t_ns,
               .generation = evaluated.generation,
               .path = "/s/step-000000004-g1"};
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  evaluated.path = "/s/step-000000002-g1";
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u);
}

TEST(StoreTest, ASaveThatRetentionMayRemoveIsNotLost) {
  Record record = RecoveredRun();
  record.setup.keep = 2;
  std::erase_if(record.left.checkpoints,
                [](const auto& one) { return one.step <= 6; });
  record.left.checkpoints.back().valid = false;
  DamageSaveOf(record, 8);
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u)
      << "of steps 6 and 8, only that of 8 is damaged";
  record.setup.keep = 1;
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
}

// The save of step 4 was never acknowledged, and yet there: the second life
// adopts it and retires that of step 2. Returns the event of its claim.
RecordEvent& AdoptUnacknowledgedSave(Record& record) {
  EventOf(record, 0, 1, K::kSaveAcknowledged, 1).kind = K::kNotice;
  RecordEvent& claim = EventOf(record, 0, 2, K::kLifeBegin, 0);
  claim.kind = K::kGeneration;
  claim.path = "/s/step-000000004-g1";
  RecordEvent& next = EventOf(record, 0, 2, K::kResumed, 0);
  next.kind = K::kRetired;
  next.path = "/s/step-000000002-g1";
  return claim;
}

TEST(StoreTest, ACommittedSaveThatWasAdoptedLetsOlderOnesBeRetired) {
  Record record = RecoveredRun();
  RecordEvent& claim = AdoptUnacknowledgedSave(record);
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  claim.path = "/s/step-000000002-g1";
  EXPECT_EQ(ReportOf(record, "store").breaches, 2u)
      << "the parent, and the newest finite one";
}

// Nobody acknowledged it: the claim says that it is not finite.
TEST(StoreTest, AnAdoptedSaveThatIsNotFiniteReplacesNoFiniteOne) {
  Record record = RecoveredRun();
  RecordEvent& claim = AdoptUnacknowledgedSave(record);
  ASSERT_EQ(ReportOf(record, "store").breaches, 0u);
  claim.count = 3;
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u);
}

TEST(NoColdStartTest, ARunThatAllHaveFinishedAndThatDeletesHasNothingLeft) {
  Record record = RecoveredRun();
  for (const int worker : {0, 1}) {
    EventOf(record, worker, 2, K::kResumed, 0).kind = K::kInitialized;
  }
  EXPECT_EQ(ReportOf(record, "no-cold-start").breaches, 1u);
  EXPECT_EQ(ReportOf(record, "bounded-loss").breaches, 1u);
  EventOf(record, 0, 1, K::kLifeBegin, 0).kind = K::kFinished;
  record.setup.delete_at_success = true;
  EXPECT_EQ(ReportOf(record, "no-cold-start").breaches, 1u)
      << "worker 1 has not finished: nothing is deleted yet";
  EXPECT_EQ(ReportOf(record, "bounded-loss").breaches, 1u);
  RecordEvent& finished = EventOf(record, 1, 1, K::kLifeBegin, 0);
  finished.kind = K::kFinished;
  finished.count = 0;
  record.setup.delete_at_success = false;
  EXPECT_EQ(ReportOf(record, "no-cold-start").breaches, 1u) << "it keeps them";
  record.setup.delete_at_success = true;
  EXPECT_EQ(ReportOf(record, "no-cold-start").breaches, 1u)
      << "its chief left in order";
  std::vector<RecordEvent>& chief = LifeOf(record, 0, 1).events;
  chief.back() = {.kind = K::kGeneration, .generation = 1};
  EXPECT_EQ(ReportOf(record, "no-cold-start").breaches, 1u)
      << "its launcher had no result: nothing is deleted yet";
  chief.insert(chief.end() - 1, {.kind = K::kResultAcknowledged});
  EXPECT_EQ(ReportOf(record, "no-cold-start").breaches, 0u);
  EXPECT_EQ(ReportOf(record, "bounded-loss").breaches, 0u);
}

TEST(StoreTest, RemovalsThatTheDiskRefusesForEverLeaveWhatIsThere) {
  Record record = UndisturbedRun();
  record.setup.keep = 1;
  record.left.temporary = {".deleting-step-000000002-g1",
                           ".deleting-step-000000004-g1"};
  record.faults.push_back(
      {.id = "no", .kind = "errno", .point = "ckpt.retire.rename"});
  EventOf(record, 0, 1, K::kLifeBegin, 0) = {.kind = K::kFaultFired,
                                             .detail = "no"};
  EXPECT_GT(ReportOf(record, "store").breaches, 0u) << "it refused one";
  record.faults.back().always = true;
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
}

TEST(StoreTest, APowerCutThatComesWhenAllIsOverMayBringBackWhatWasRemoved) {
  Record record = RecoveredRun();
  record.left.temporary = {".deleting-step-000000002-g1"};
  record.faults[0].kind = "power_loss";
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u)
      << "it was cleaned up after";
  RecordEvent& fired = EventOf(record, 1, 1, K::kFaultFired, 0);
  fired.t_ns = EventOf(record, 0, 2, K::kLifeEnd, 0).t_ns + 1;
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
}

TEST(StoreTest, ALateSurvivorMayLeaveWhatNobodyClearsUp) {
  Record record = RecoveredRun();
  record.left.temporary = {"gen-000002.tmp"};
  ASSERT_EQ(ReportOf(record, "store").breaches, 1u);
  const int64_t begin = EventOf(record, 0, 2, K::kLifeBegin, 0).t_ns;
  std::vector<RecordEvent>& events = LifeOf(record, 0, 1).events;
  events.push_back({.kind = K::kLifeEnd, .t_ns = begin, .count = 75});
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u);
  events.back().t_ns = begin + 1;
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  RecordEvent claim = {.kind = K::kGeneration, .t_ns = begin, .generation = 2};
  std::vector<RecordEvent>& later = LifeOf(record, 0, 2).events;
  later.insert(later.begin() + 1, claim);
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  later[1].t_ns = begin + 1;
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u) << "the claim clears it up";
}

// Cut off and taken for dead, it claims when all is over, and is killed in it.
TEST(StoreTest, ALateSurvivorsClaimMayLeaveWhatNobodyClearsUp) {
  Record record = RecoveredRun();
  record.left.temporary = {"checkpoint.tmp"};
  ASSERT_EQ(ReportOf(record, "store").breaches, 1u);
  const int64_t end = EventOf(record, 0, 2, K::kLifeEnd, 0).t_ns;
  RecordEvent& claim = LifeOf(record, 0, 1).events.back();
  claim = {.kind = K::kGeneration, .t_ns = end + 1, .generation = 3};
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  RecordEvent started = {
      .kind = K::kResumed, .t_ns = end + 2, .generation = 3, .step = 8};
  started.digest = DigestAt(8, RecordPhase::kEvaluationDue);
  LifeOf(record, 0, 1).events.push_back(started);
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u) << "it came after that";
  LifeOf(record, 0, 1).events.pop_back();
  LifeOf(record, 0, 1).events.back().t_ns =
      EventOf(record, 0, 2, K::kLifeBegin, 0).t_ns - 1;
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u);
}

// A removal that was not done to its end, and an error at that point.
Record WithARemovalLeft(const std::string& point) {
  Record record = UndisturbedRun();
  record.left.temporary = {".deleting-step-000000002-g1"};
  record.faults.push_back({.id = "no", .kind = "errno", .point = point});
  EventOf(record, 0, 1, K::kLifeBegin, 0) = {.kind = K::kFaultFired,
                                             .detail = "no"};
  return record;
}

TEST(StoreTest, AnErrorThatVoidsNoSaveMayHaveMetARemoval) {
  Record record = WithARemovalLeft("ckpt.commit.fsync");
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  LifeOf(record, 0, 1).events.push_back({.kind = K::kSaveFailed, .step = 2});
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u);
}

TEST(StoreTest, WhatIsLoadedIsWhatWasSavedInThatPhase) {
  Record record = TwoPhasesRun();
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  EventOf(record, 0, 3, K::kResumed, 0).digest =
      DigestAt(4, RecordPhase::kEvaluationDue);
  EXPECT_EQ(ReportOf(record, "store").breaches, 1u);
}

TEST(StoreTest, TheDamageOfThePlanExcusesAsManyCheckpointsAndNoMore) {
  Record record = RefusedRun();
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  EventOf(record, 0, 1, K::kDamaged, 0).kind = K::kNotice;
  EXPECT_EQ(ReportOf(record, "store").breaches, 2u)
      << "one flip cannot spoil two checkpoints; and one of them was owed";
}

TEST(StoreTest, ASaveOfALaterPhaseOfTheStepLetsTheEarlierOneGo) {
  Record record = TwoPhasesRun();
  RecordEvent& end = EventOf(record, 0, 2, K::kLifeEnd, 0);
  end = {.kind = K::kRetired, .path = "/s/step-000000004-g2"};
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  end.path = "/s/step-000000004-callbacks_due-g2";
  EXPECT_EQ(ReportOf(record, "store").breaches, 2u)
      << "the newest, and the newest finite one";
}

// Back from the callbacks to the evaluation: the same step, and yet a loss.
TEST(ResumePointTest, AnEarlierPhaseOfTheStepIsTooOld) {
  Record record = TwoPhasesRun();
  ASSERT_EQ(ReportOf(record, "resume-point").breaches, 0u);
  for (const int worker : {0, 1}) {
    RecordEvent& resumed = EventOf(record, worker, 3, K::kResumed, 0);
    resumed.phase = RecordPhase::kEvaluationDue;
    resumed.digest = DigestAt(4, RecordPhase::kEvaluationDue);
  }
  EXPECT_EQ(ReportOf(record, "resume-point").breaches, 2u);
}

TEST(TrajectoryTest, AStateOfAnotherPhaseOfTheStepIsNotTheReferences) {
  Record record = TwoPhasesRun();
  ASSERT_EQ(ReportOf(record, "trajectory").breaches, 0u);
  EventOf(record, 0, 2, K::kSaveAcknowledged, 0).digest =
      DigestAt(4, RecordPhase::kEvaluationDue);
  EXPECT_EQ(ReportOf(record, "trajectory").breaches, 1u);
}

// The damage of one of two saves of a step says nothing of the other.
TEST(ResumePointTest, TheDamagedSaveOfAStepExcusesNoOtherOfItsSaves) {
  Record record = TwoPhasesRun();
  DamageSaveOf(record, 4);
  EventOf(record, 0, 1, K::kDamaged, 0).path =
      "/s/step-000000004-callbacks_due-g2.tmp/MANIFEST.json";
  for (const int worker : {0, 1}) {
    RecordEvent& resumed = EventOf(record, worker, 3, K::kResumed, 0);
    resumed.step = 2;
    resumed.phase = RecordPhase::kInEpoch;
  }
  RecordEvent& rejected = EventOf(record, 0, 3, K::kLifeBegin, 0);
  rejected = {.kind = K::kRejected,
              .path = "/s/step-000000004-callbacks_due-g2"};
  EXPECT_EQ(ReportOf(record, "resume-point").breaches, 2u)
      << "the save with the evaluation due is there";
}

TEST(StoreTest, AFallBackLeavesNothingLaterThanTheParent) {
  Record record = RecoveredRun();
  EventOf(record, 0, 2, K::kLifeBegin, 0) = {.kind = K::kGeneration,
                                             .path = "/s/step-000000002-g2"};
  RecordEvent& retired = EventOf(record, 0, 2, K::kResumed, 0);
  retired = {.kind = K::kRetired, .path = "/s/step-000000002-g2"};
  EXPECT_EQ(ReportOf(record, "store").breaches, 2u)
      << "the save of step 4 was given up, so this one is the newest, and the "
         "newest finite one";
}

TEST(ResumePointTest, FallsBackBehindACheckpointThatThePlanDamaged) {
  Record record = RecoveredRun();
  for (const int worker : {0, 1}) {
    RecordEvent& resumed = EventOf(record, worker, 2, K::kResumed, 0);
    resumed.step = 2;
    resumed.phase = RecordPhase::kInEpoch;
  }
  EventOf(record, 0, 2, K::kLifeBegin, 0) = {.kind = K::kRejected,
                                             .path = "/s/step-000000004-g1"};
  EXPECT_GT(ReportOf(record, "resume-point").breaches, 0u);
  DamageSaveOf(record, 4);
  EXPECT_EQ(ReportOf(record, "resume-point").breaches, 0u);
}

// A death while the damaged one is set aside: nobody says that it was.
TEST(ResumePointTest, WhatADyingClaimPassedOverCountsAsDamagedIfThePlanDid) {
  Record record = RecoveredRun();
  LifeEvents claimed = {.worker = 0, .life = 2, .events = {}};
  claimed.events = {{.kind = K::kLifeBegin, .generation = 2},
                    {.kind = K::kGeneration,
                     .generation = 2,
                     .path = "/s/step-000000002-g2"}};
  for (const int worker : {0, 1}) {
    LifeEvents& last = LifeOf(record, worker, 2);
    last.life = 3;
    for (RecordEvent& event : last.events) event.generation = 3;
    RecordEvent& resumed = EventOf(record, worker, 3, K::kResumed, 0);
    resumed.step = 2;
    resumed.phase = RecordPhase::kInEpoch;
    resumed.digest = DigestAt(2, RecordPhase::kInEpoch);
  }
  record.lives.push_back(claimed);
  EXPECT_EQ(ReportOf(record, "resume-point").breaches, 2u);
  DamageSaveOf(record, 4);
  EXPECT_EQ(ReportOf(record, "resume-point").breaches, 0u);
  EXPECT_EQ(ReportOf(record, "store").breaches, 0u);
  record.lives.back().events.push_back({.kind = K::kLifeEnd});
  EXPECT_EQ(ReportOf(record, "resume-point").breaches, 2u)
      << "it lived to say so, and did not";
}

// It wrote the state file or the claim: no checkpoint is the worse for it.
TEST(StoreTest, DamageOfAnotherFileExcusesNoCheckpoint) {
  Record record = UndisturbedRun();
  DamageSaveOf(record, 4);
  record.left.checkpoints[1].valid = false;
  ASSERT_EQ(ReportOf(record, "store").breaches, 0u);
  for (const char* file : {"/s/checkpoint.tmp", "/s/gen-000000001",
                           "/s/step-000000006-g1/MANIFEST.json"}) {
    EventOf(record, 0, 1, K::kDamaged, 0).path = file;
    EXPECT_EQ(ReportOf(record, "store").breaches, 1u) << file;
  }
}

TEST(ResumePointTest, DamageOfAnotherFileExcusesNoFallBack) {
  Record record = RecoveredRun();
  DamageSaveOf(record, 4);
  for (const int worker : {0, 1}) {
    RecordEvent& resumed = EventOf(record, worker, 2, K::kResumed, 0);
    resumed.step = 2;
    resumed.phase = RecordPhase::kInEpoch;
  }
  EventOf(record, 0, 2, K::kLifeBegin, 0) = {.kind = K::kRejected,
                                             .path = "/s/step-000000004-g1"};
  ASSERT_EQ(ReportOf(record, "resume-point").breaches, 0u);
  EventOf(record, 0, 1, K::kDamaged, 0).path = "/s/checkpoint.tmp";
  EXPECT_EQ(ReportOf(record, "resume-point").breaches, 2u);
}

TEST(StoreTest, OnlyAnErrorRefusesARemoval) {
  Record record = WithARemovalLeft("ckpt.retire.remove");
  ASSERT_EQ(ReportOf(record, "store").breaches, 0u);
  for (const char* kind : {"preempt", "wall_clock_jump", "bit_flip"}) {
    record.faults.back().kind = kind;
    EXPECT_EQ(ReportOf(record, "store").breaches, 1u) << kind;
  }
}

}  // namespace
}  // namespace gauntlet
