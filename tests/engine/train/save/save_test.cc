// Times of a run's saves, effects of a failing save, and checkpoints left at
// the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/train/save/collective_save.h"
#include "tests/engine/train/save/one_error_in_a_save.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TrainOptions With(const SaveTrigger& trigger) {
  TrainOptions options = SmallRun();
  options.checkpoint.trigger = trigger;
  return options;
}

std::vector<uint64_t> SavedSteps(const TrainOptions& options) {
  const AttemptResult outcome = TrainingFixture().Run(2, options);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
  return outcome.StepsOf(EventKind::kSaveAcknowledged);
}

TEST(SaveTest, EveryNStepsAndAtTheEnd) {
  EXPECT_THAT(SavedSteps(With({.unit = SaveUnit::kSteps, .every = 5})),
              ElementsAre(5, 10, 15, 20, 24));
}

void RemoveAll(Storage& disk, const std::string& path) {
  const Result<std::vector<DirectoryEntry>> listed = disk.List(path);
  for (const DirectoryEntry& entry : *listed) {
    const std::string child = path + "/" + entry.name;
    if (entry.kind == FileKind::kDirectory) {
      RemoveAll(disk, child);
    } else {
      EXPECT_TRUE(disk.Remove(child, FileKind::kFile).ok());
    }
  }
  EXPECT_TRUE(disk.Remove(path, FileKind::kDirectory).ok());
}

// Step 24 is saved twice: while the evaluation is due, and at the end.
TEST(SaveTest, StepSaveAtAnEpochsEndIsNotTheFinalOne) {
  EXPECT_THAT(SavedSteps(With({.unit = SaveUnit::kSteps, .every = 12})),
              ElementsAre(12, 24, 24));
}

TEST(SaveTest, EveryNEpochsWithoutASecondOneAtTheEnd) {
  EXPECT_THAT(SavedSteps(With({.unit = SaveUnit::kEpochs, .every = 1})),
              ElementsAre(6, 12, 18, 24));
  EXPECT_THAT(SavedSteps(With({.unit = SaveUnit::kEpochs, .every = 3})),
              ElementsAre(18, 24));
}

TEST(SaveTest, WithoutATriggerOnlyTheEndIsSaved) {
  EXPECT_THAT(SavedSteps(With({.unit = SaveUnit::kNone})), ElementsAre(24));
}

std::vector<std::string> FilesIn(Storage& disk, const std::string& path) {
  std::vector<std::string> names;
  const Result<std::vector<DirectoryEntry>> listed = disk.List(path);
  for (const DirectoryEntry& entry : *listed) names.push_back(entry.name);
  return names;
}

TEST(SaveTest, OnlyNWorkersWriteShards) {
  TrainOptions options = SmallRun();
  options.checkpoint.shards = 1;
  for (const SaveMode mode :
       {SaveMode::kSync, SaveMode::kAsync, SaveMode::kZeroCopy}) {
    options.checkpoint.mode = mode;
    TrainingFixture fixture;
    const AttemptResult outcome = fixture.Run(4, options);
    ASSERT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
    EXPECT_EQ(outcome.result->digest, UndisturbedDigest(SmallRun()));
    EXPECT_THAT(
        FilesIn(fixture.disk(), "/ckpt/step-000000024-g1"),
        UnorderedElementsAre("model-00001-of-00001.safetensors",
                             "model.safetensors.index.json", "MANIFEST.json"));
  }
}

// A stale worker of an earlier attempt claims while a save is in progress.
TEST(SaveTest, NewerClaimPreventsAcknowledgementAndTheNextIncarnationResumes) {
  TrainingFixture fixture;
  const FaultPlan plan = {
      .faults = {
          {.id = "wait",
           .site = {.worker = kChief, .point = Point::kRename, .occurrence = 2},
           .kind = FaultKind::kHang,
           .with = {.duration = std::chrono::seconds(2)}}}};
  fixture.simulation().At(
      fixture.simulation().now() + std::chrono::seconds(1), [&fixture] {
        EXPECT_TRUE(fixture.disk()
                        .Open("/ckpt/gen-000007", OpenMode::kCreateExclusive)
                        .ok());
      });
  const AttemptResult fenced = fixture.Run(2, SmallRun(), plan);
  EXPECT_TRUE(fenced.AllExitedWith(WorkerExit::kLostWorker));
  EXPECT_THAT(fenced.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(5));
  // The newer claim never recorded a parent, so the committed checkpoint
  // counts.
  const AttemptResult next = fixture.Run(2, SmallRun());
  EXPECT_EQ(next.result->resumed_from, 10u);
  EXPECT_EQ(next.result->digest, UndisturbedDigest(SmallRun()));
}

TEST(SaveTest, DeletedStore_EndsTheRun) {
  TrainingFixture fixture;
  const FaultPlan plan = {
      .faults = {{.id = "wait",
                  .site = {.worker = kChief, .step = 7},
                  .kind = FaultKind::kHang,
                  .with = {.duration = std::chrono::seconds(2)}}}};
  fixture.simulation().At(fixture.simulation().now() + std::chrono::seconds(1),
                          [&fixture] { RemoveAll(fixture.disk(), "/ckpt"); });
  const AttemptResult outcome = fixture.Run(2, SmallRun(), plan);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kFailed));
  EXPECT_THAT(outcome.reasons[0], HasSubstr("/ckpt: deleted under this run"));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(5));
}

TEST(SaveTest, WithoutADirectoryNothingIsSaved) {
  TrainOptions options = SmallRun();
  options.checkpoint.directory.clear();
  EXPECT_THAT(SavedSteps(options), IsEmpty());
}

// Step 11 takes two seconds. Only the chief's clock counts, and the chief
// checks it after its own part of a step: after its own delay, but before the
// delay of others.
TEST(SaveTest, EveryNSecondsOfTheChiefsClock) {
  const TrainOptions options = With({.unit = SaveUnit::kSeconds, .every = 2});
  for (const int slow_worker : {0, 1}) {
    const FaultPlan plan = {
        .faults = {{.id = "slow",
                    .site = {.worker = slow_worker, .step = 11},
                    .kind = FaultKind::kSlow,
                    .with = {.latency = std::chrono::seconds(2)}}}};
    const AttemptResult outcome = TrainingFixture().Run(2, options, plan);
    EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
                ElementsAre(slow_worker == 0 ? 11 : 12, 24))
        << "slow worker " << slow_worker;
  }
}

TEST(SaveTest, FinishedRunDeletesItsBackupIfConfigured) {
  TrainOptions options = SmallRun();
  options.checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  TrainingFixture fixture;
  const AttemptResult outcome = fixture.Run(2, options);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 10, 15, 20));
  EXPECT_EQ(outcome.Of(EventKind::kBackupDeleted).size(), 1u);
  EXPECT_EQ(fixture.disk().List("/ckpt").status().code(), Code::kNotFound);
}

TEST(SaveTest, StoppedRunKeepsItsBackup) {
  TrainOptions options = SmallRun();
  options.checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  options.horizon.stop_at_step = 7;
  const AttemptResult outcome = TrainingFixture().Run(2, options);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStopped));
  EXPECT_THAT(outcome.Of(EventKind::kBackupDeleted), IsEmpty());
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(5, 7));
}

TEST(SaveTest, OneError_CostsAtMostOneSave) {
  ExpectOneErrorCostsOneSave(SmallRun());
}

FaultPlan FullDisk(FaultTimes times) {
  return {.faults = {{.id = "full",
                      .site = {.worker = 0, .point = Point::kShardWrite},
                      .kind = FaultKind::kErrno,
                      .with = {.times = times, .error = ENOSPC}}}};
}

TEST(SaveTest, LeavesForALaterStart_WhenTheLastSaveFails) {
  for (const SaveMode mode :
       {SaveMode::kSync, SaveMode::kAsync, SaveMode::kZeroCopy}) {
    TrainOptions options = With({.unit = SaveUnit::kNone});
    options.checkpoint.mode = mode;
    options.cluster.save_timeout = std::chrono::minutes(5);
    const AttemptResult outcome =
        TrainingFixture().Run(2, options, FullDisk(FaultTimes::kAlways));
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStartLater));
    EXPECT_FALSE(outcome.result);
    EXPECT_THAT(outcome.reasons[0],
                HasSubstr("step 24 was not saved after 31 s of retries: "));
    EXPECT_THAT(outcome.reasons[0], HasSubstr("(needs 3.3 KiB)"));
    EXPECT_THAT(outcome.reasons[1], HasSubstr("run the same command again"));
    EXPECT_EQ(outcome.Of(EventKind::kSaveFailed).size(), 6u);
  }
}

// A worker with a notice pauses for less time than the others, and then waits
// for them. The limit keeps this worker from considering the others lost.
TEST(SaveTest, PausesAtMostHalfASavesLimitBetweenTries) {
  TrainOptions options = With({.unit = SaveUnit::kNone});
  options.cluster.save_timeout = std::chrono::seconds(6);
  const AttemptResult outcome =
      TrainingFixture().Run(2, options, FullDisk(FaultTimes::kAlways));
  EXPECT_THAT(outcome.reasons[0],
              HasSubstr("step 24 was not saved after 12 s of retries: "));
}

TEST(SaveTest, TriesForAQuarterOfTheGracePeriod_AfterANotice) {
  TrainOptions options = With({.unit = SaveUnit::kNone});
  options.cluster.save_timeout = std::chrono::minutes(5);
  for (const auto& [grace, tries] :
       {std::pair{std::chrono::seconds(0), "after 3 s of retries"},
        std::pair{std::chrono::seconds(60), "after 15 s of retries"},
        std::pair{std::chrono::seconds(600), "after 31 s of retries"}}) {
    options.preemption.grace = grace;
    FaultPlan plan = FullDisk(FaultTimes::kAlways);
    plan.faults.push_back(
        {.id = "notice",
         .site = {.worker = 0, .step = 5, .point = Point::kStepBegin},
         .kind = FaultKind::kPreempt,
         .with = {.grace = std::chrono::seconds(700)}});
    const AttemptResult outcome = TrainingFixture().Run(2, options, plan);
    EXPECT_THAT(outcome.reasons[0], HasSubstr(tries)) << grace.count();
  }
}

TEST(SaveTest, LeavesForALaterStart_WhenTheSaveOfAStopFails) {
  TrainOptions options = With({.unit = SaveUnit::kNone});
  options.horizon.stop_at_step = 7;
  const AttemptResult outcome =
      TrainingFixture().Run(2, options, FullDisk(FaultTimes::kAlways));
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStartLater));
  EXPECT_FALSE(outcome.result);
  EXPECT_THAT(outcome.reasons[0], HasSubstr("step 7 was not saved"));
  EXPECT_EQ(outcome.Of(EventKind::kSaveFailed).size(), 6u);
}

// The last checkpoint is missing, but the model is exported.
TEST(SaveTest, IsDone_WhenTheModelIsExportedAndTheLastSaveFails) {
  TrainOptions options = With({.unit = SaveUnit::kNone});
  options.export_directory = "/model";
  TrainingFixture fixture;
  const AttemptResult outcome =
      fixture.Run(2, options, FullDisk(FaultTimes::kAlways));
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
  ASSERT_TRUE(outcome.result);
  EXPECT_EQ(outcome.result->status, "done");
  EXPECT_THAT(outcome.lines,
              Contains(HasSubstr("the last checkpoint is missing: step 24")));
  EXPECT_TRUE(fixture.disk().List("/model").ok());
}

TEST(SaveTest, LastSaveIsTriedAgainBeforeAllOfItIsGivenUp) {
  const AttemptResult outcome = TrainingFixture().Run(
      2, With({.unit = SaveUnit::kNone}), FullDisk(FaultTimes::kOnce));
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveFailed), ElementsAre(24));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(24));
  EXPECT_THAT(outcome.lines, Contains(HasSubstr("retrying in 1.0 s")));
}

// An error with the code for "exists" is an error: it does not mean that the
// state is saved.
TEST(SaveTest, ErrorAtTheBeginIsNotTakenForAFinishedSave) {
  const FaultPlan plan = {
      .faults = {{.id = "taken",
                  .site = {.worker = 0, .point = Point::kSaveBegin},
                  .kind = FaultKind::kErrno,
                  .with = {.error = EEXIST}}}};
  const AttemptResult outcome =
      TrainingFixture().Run(2, With({.unit = SaveUnit::kNone}), plan);
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveFailed), ElementsAre(24));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(24));
}

// The save of the last step fails, and so does the removal of its remains. The
// save at the end has the same step and phase.
TEST(SaveTest, LastSaveOutlivesAFailedOneOfItsName) {
  TrainOptions options = With({.unit = SaveUnit::kEpochs});
  const FaultPlan plan = {
      .faults = {
          {.id = "sync",
           .site = {.worker = 0, .step = 24, .point = Point::kShardSync},
           .kind = FaultKind::kErrno},
          {.id = "rename",
           .site = {.worker = 0, .step = 24, .point = Point::kRetireRename},
           .kind = FaultKind::kErrno,
           .after = "sync"}}};
  TrainingFixture fixture;
  const AttemptResult outcome = fixture.Run(2, options, plan);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveFailed), ElementsAre(24));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(6, 12, 18, 24));
  const AttemptResult next = fixture.Run(2, options);
  EXPECT_EQ(next.result->resumed_from, kSteps);
}

TEST(SaveTest, FailedSaveIsReportedToPeople) {
  const FaultPlan plan = {
      .faults = {
          {.id = "full",
           .site = {.worker = 1, .point = Point::kShardSync, .occurrence = 2},
           .kind = FaultKind::kErrno,
           .with = {.error = ENOSPC}}}};
  const AttemptResult outcome = TrainingFixture().Run(2, SmallRun(), plan);
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 15, 20, 24));
  EXPECT_THAT(outcome.lines,
              Contains(HasSubstr("save of step 10 failed: rank 1's shard")));
}

TEST(SaveTest, StatusesTravelWhole) {
  for (const Status& status :
       {OkStatus(), IoError("a: no"), Fenced(""), Cancelled("x\ny")}) {
    const Status back = DecodeStatus(EncodeStatus(status));
    EXPECT_EQ(back.code(), status.code());
    EXPECT_EQ(back.message(), status.message());
  }
  EXPECT_EQ(DecodeStatus("").code(), Code::kDataLoss);
  EXPECT_EQ(DecodeStatus("\x7f").code(), Code::kDataLoss);
  EXPECT_EQ(DecodeStatus("\xff").code(), Code::kDataLoss);
}

}  // namespace
}  // namespace gauntlet
