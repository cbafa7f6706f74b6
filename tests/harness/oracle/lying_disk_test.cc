// What is owed after a power cut on a disk that lied about syncs.
#include <gtest/gtest.h>

#include "harness/oracle/evidence.h"
#include "harness/oracle/invariants.h"
#include "tests/harness/oracle/record_builder.h"

namespace gauntlet {
namespace {

using K = RecordKind;

// RecoveredRun, but the crash in step 6 is a power cut, and what the second
// life goes on from is chosen.
Record CutRun(const char* disk) {
  Record record = RecoveredRun();
  record.faults[0].kind = "power_loss";
  record.faults[0].disk = disk;
  return record;
}

void ResumeFromTwo(Record& record) {
  for (const int worker : {0, 1}) {
    RecordEvent& resumed = EventOf(record, worker, 2, K::kResumed, 0);
    resumed.step = 2;
    resumed.phase = RecordPhase::kInEpoch;
    resumed.digest = DigestAt(2, RecordPhase::kInEpoch);
  }
}

void StartAfresh(Record& record) {
  for (const int worker : {0, 1}) {
    EventOf(record, worker, 2, K::kResumed, 0) = {
        .kind = K::kInitialized,
        .generation = 2,
        .digest = DigestAt(0, RecordPhase::kInEpoch)};
  }
}

// The second life finds the save of step 4, void or damaged.
void FindFirst(Record& record, RecordKind as) {
  RecordEvent& event = EventOf(record, 0, 2, K::kLifeBegin, 0);
  event.kind = as;
  event.path = "/s/step-000000004-g1";
}

uint64_t Breaches(const Record& record, std::string_view invariant) {
  return ReportOf(record, invariant).breaches;
}

TEST(LyingDiskTest, AnOlderSaveIsGoneOnFromIfTheDiskForgot) {
  Record record = CutRun("ext4");
  ResumeFromTwo(record);
  record.setup.save_interval_steps = 1;
  EXPECT_EQ(Breaches(record, "resume-point"), 2u);
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
  record.faults[0].disk = "lying-fsync";
  EXPECT_EQ(Breaches(record, "resume-point"), 0u);
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
}

TEST(LyingDiskTest, WhatIsReadIsStillTheReferencesAndWasSaved) {
  Record record = CutRun("lying-fsync");
  ResumeFromTwo(record);
  EventOf(record, 0, 2, K::kResumed, 0).digest = std::string(32, 'f');
  EXPECT_EQ(Breaches(record, "trajectory"), 1u);
  EXPECT_EQ(Breaches(record, "store"), 1u);
  EventOf(record, 0, 2, K::kResumed, 0).step = 3;
  EXPECT_GE(Breaches(record, "resume-point"), 1u) << "from nowhere";
}

TEST(LyingDiskTest, TornSavesFromBeforeTheCutAreNoBreach) {
  Record record = CutRun("ext4");
  ResumeFromTwo(record);
  FindFirst(record, K::kRejected);
  EXPECT_EQ(Breaches(record, "store"), 1u);
  record.faults[0].disk = "lying-fsync";
  EXPECT_EQ(Breaches(record, "store"), 0u);
}

// Behind the cut the disk is as good as another.
TEST(LyingDiskTest, SavesFromAfterTheCutAreOwedAsEver) {
  Record record = CutRun("lying-fsync");
  ASSERT_EQ(Breaches(record, "store"), 0u);
  record.left.checkpoints.back() = {.name = "step-000000008-g2",
                                    .step = 8,
                                    .valid = false,
                                    .reason = "digest differs"};
  EXPECT_EQ(Breaches(record, "store"), 2u) << "damaged, and the newest lost";
}

// It met a late survivor, and nobody has begun anything behind it.
TEST(LyingDiskTest, ACutThatComesWhenAllIsOverForgetsToo) {
  Record record = CutRun("ext4");
  EventOf(record, 1, 1, K::kFaultFired, 0).t_ns =
      EventOf(record, 0, 2, K::kLifeEnd, 0).t_ns + 1;
  record.left.checkpoints.back() = {.name = "step-000000008-g2",
                                    .step = 8,
                                    .valid = false,
                                    .reason = "MANIFEST.json: missing"};
  EXPECT_EQ(Breaches(record, "store"), 2u) << "damaged, and the newest lost";
  record.faults[0].disk = "lying-fsync";
  EXPECT_EQ(Breaches(record, "store"), 0u);
}

TEST(LyingDiskTest, WhatWasFoundAfterTheCutIsOwedToThoseWhoComeThen) {
  Record record = CutRun("lying-fsync");
  std::vector<LifeEvents> third;
  for (const int worker : {0, 1}) {
    LifeEvents life = LifeOf(record, worker, 2);
    life.life = 3;
    for (RecordEvent& event : life.events) event.generation = 3;
    std::erase_if(LifeOf(record, worker, 2).events, [](const RecordEvent& e) {
      return e.kind == K::kSaveAcknowledged || e.kind == K::kSaveBegin;
    });
    third.push_back(life);
  }
  for (const LifeEvents& life : third) record.lives.push_back(life);
  EXPECT_EQ(Breaches(record, "resume-point"), 0u);
  for (const int worker : {0, 1}) {
    RecordEvent& resumed = EventOf(record, worker, 3, K::kResumed, 0);
    resumed.step = 2;
    resumed.phase = RecordPhase::kInEpoch;
  }
  EXPECT_EQ(Breaches(record, "resume-point"), 2u);
}

TEST(LyingDiskTest, AStartAfreshIsDueWhereNothingIsLeft) {
  Record record = CutRun("lying-fsync");
  StartAfresh(record);
  EXPECT_EQ(Breaches(record, "no-cold-start"), 0u);
  FindFirst(record, K::kFencedFound);
  EXPECT_EQ(Breaches(record, "no-cold-start"), 1u) << "a piece was left";
  record.faults[0].disk = "weak";
  EventOf(record, 0, 2, K::kFencedFound, 0).kind = K::kNotice;
  EXPECT_EQ(Breaches(record, "no-cold-start"), 1u)
      << "this disk keeps its word";
}

TEST(LyingDiskTest, ARefusalIsCleanWhereNothingWholeIsLeft) {
  Record record = RefusedRun();
  record.faults.pop_back();
  for (LifeEvents& life : record.lives) {
    for (RecordEvent& event : life.events) {
      if (life.life == 2) event.generation = 0;
    }
    if (life.life == 2)
      std::erase_if(life.events, [](const RecordEvent& e) {
        return e.kind == K::kRejected;
      });
  }
  record.left.rejected.clear();
  EXPECT_GT(Breaches(record, "clean-refusal"), 0u);
  record.faults[0].kind = "power_loss";
  record.faults[0].disk = "lying-fsync";
  EXPECT_EQ(Breaches(record, "clean-refusal"), 0u);
}

// The cut took the claim away, and its number is given out again.
TEST(LyingDiskTest, ANumberGivenOutTwiceIsTwoGenerations) {
  Record record = CutRun("lying-fsync");
  for (const int worker : {0, 1}) {
    for (RecordEvent& event : LifeOf(record, worker, 2).events) {
      event.generation = 1;
    }
  }
  const Evidence evidence(record);
  EXPECT_EQ(evidence.generations.size(), 2u);
  EXPECT_EQ(Breaches(record, "samples"), 0u);
  record.faults[0].kind = "crash";
  EXPECT_GT(Breaches(record, "samples"), 0u);
}

// It is killed in the write that was to be torn: the other one lives on.
TEST(LyingDiskTest, ACutThatSomebodyLivedThroughNeverCame) {
  Record record = RejoinedRun();
  record.faults[0].kind = "torn_write";
  record.faults[0].then = "power_loss";
  record.faults[0].disk = "lying-fsync";
  const Evidence evidence(record);
  EXPECT_FALSE(evidence.disk_forgot);
  EXPECT_EQ(evidence.EraOf(LifeOf(record, 1, 2)), 0u);
  EXPECT_EQ(evidence.generations.size(), 2u);
  Record cut = RejoinedRun();
  cut.faults = record.faults;
  std::erase_if(cut.lives, [](const LifeEvents& life) {
    return life.worker == 0 && life.life == 1;
  });
  EXPECT_TRUE(Evidence(cut).disk_forgot);
}

}  // namespace
}  // namespace gauntlet
