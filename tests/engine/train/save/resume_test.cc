// A run may be split into attempts of any length with any number of workers:
// the result is bitwise identical.
#include "engine/train/save/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(HorizonTest, EpochsOrStepsWhicheverComesFirst) {
  struct Row {
    uint64_t epochs;
    std::optional<uint64_t> max_steps;
    uint64_t steps;
    uint64_t complete_epochs;
  };
  for (const Row& row :
       {Row{2, std::nullopt, 12, 2}, Row{4, 9, 9, 1}, Row{1, 9, 6, 1},
        Row{4, 12, 12, 2}, Row{4, 0, 0, 0}, Row{0, std::nullopt, 0, 0}}) {
    TrainOptions options = SmallRun();
    options.horizon = {.epochs = row.epochs, .max_steps = row.max_steps};
    const AttemptResult outcome = TrainingFixture().Run(2, options);
    ASSERT_TRUE(outcome.result) << outcome.reasons[0];
    EXPECT_EQ(outcome.result->status, "done");
    EXPECT_EQ(outcome.result->steps, row.steps);
    EXPECT_EQ(outcome.result->epochs, row.complete_epochs);
  }
}

TEST(HorizonTest, FurtherHorizonResumesAtTheEndOfANearerOne) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.horizon = {.epochs = kEpochs, .max_steps = 8};
  fixture.Run(2, options);
  options.horizon.max_steps.reset();
  const AttemptResult outcome = fixture.Run(3, options);
  EXPECT_EQ(outcome.result->resumed_from, 8u);
  EXPECT_EQ(outcome.result->digest, UndisturbedDigest(options));
}

TEST(HorizonTest, HorizonThatIsPassedEndsAtOnce) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  const AttemptResult whole = fixture.Run(2, options);
  options.horizon.epochs = 2;
  const AttemptResult again = fixture.Run(2, options);
  EXPECT_TRUE(again.AllExitedWith(WorkerExit::kDone));
  EXPECT_EQ(again.result->steps, kSteps);
  EXPECT_EQ(again.result->digest, whole.result->digest);
}

TEST(HistoryTest, HasOneEntryAnEpoch) {
  const AttemptResult outcome = TrainingFixture().Run(2, SmallRun());
  EXPECT_THAT(outcome.StepsOf(EventKind::kEpochEnd),
              ElementsAre(6, 12, 18, 24));
  EXPECT_THAT(outcome.StepsOf(EventKind::kEvaluated),
              ElementsAre(6, 12, 18, 24));
  EXPECT_EQ(outcome.result->epochs, kEpochs);
}

TEST(BitsTest, DoNotDependOnTheNumberOfWorkers) {
  for (const int replicas : {4, 5, 7}) {
    TrainOptions options = SmallRun();
    options.job.replicas = replicas;
    options.job.remainder = Remainder::kKeep;
    const std::string golden = UndisturbedDigest(options);
    for (int workers = 1; workers <= 4; ++workers) {
      const AttemptResult outcome = TrainingFixture().Run(workers, options);
      ASSERT_TRUE(outcome.result) << outcome.reasons[0];
      EXPECT_EQ(outcome.result->digest, golden)
          << replicas << " replicas on " << workers << " workers";
    }
  }
}

TEST(BitsTest, DependOnTheSeed) {
  TrainOptions options = SmallRun();
  const std::string golden = UndisturbedDigest(options);
  options.job.seed = 2;
  EXPECT_NE(UndisturbedDigest(options), golden);
}

// Tries every split of the run into two attempts. (Step 24 is the end: not a
// stop.)
TEST(ResumeTest, EveryStepIsAGoodPlaceToStop) {
  const std::string golden = UndisturbedDigest(SmallRun());
  for (uint64_t stop = 1; stop <= kSteps; ++stop) {
    TrainingFixture fixture(stop);
    TrainOptions options = SmallRun();
    options.horizon.stop_at_step = stop;
    const AttemptResult first = fixture.Run(4, options);
    ASSERT_TRUE(first.result) << first.reasons[0];
    if (stop == kSteps) {
      EXPECT_EQ(first.result->status, "done");
      continue;
    }
    EXPECT_TRUE(first.AllExitedWith(WorkerExit::kStopped)) << stop;
    EXPECT_EQ(first.result->steps, stop);
    const AttemptResult second =
        fixture.Run(1 + static_cast<int>(stop % 4), options);
    EXPECT_THAT(second.StepsOf(EventKind::kResumed), ElementsAre(stop));
    EXPECT_EQ(second.result->digest, golden) << stop;
    EXPECT_THAT(second.StepsOf(EventKind::kStep), SizeIs(kSteps - stop));
  }
}

TrainOptions AccumulatingRun() {
  TrainOptions options = SmallRun();
  options.job.accumulate = 4;
  options.job.optimizer.schedule = {
      .kind = ScheduleKind::kCosineDecay, .warmup = 2, .steps = 4};
  options.job.optimizer.clip = {.kind = ClipKind::kGlobalNorm, .limit = 0.1f};
  return options;
}

// 24 steps are six updates, so most stops leave accumulated gradients.
TEST(ResumeTest, MiddleOfAnAccumulationIsAGoodPlaceToStop) {
  const std::string golden = UndisturbedDigest(AccumulatingRun());
  for (uint64_t stop = 1; stop < kSteps; ++stop) {
    TrainingFixture fixture(stop);
    TrainOptions options = AccumulatingRun();
    options.horizon.stop_at_step = stop;
    const AttemptResult first = fixture.Run(3, options);
    ASSERT_TRUE(first.AllExitedWith(WorkerExit::kStopped)) << first.reasons[0];
    const AttemptResult second =
        fixture.Run(1 + static_cast<int>(stop % 4), options);
    EXPECT_THAT(second.StepsOf(EventKind::kResumed), ElementsAre(stop));
    EXPECT_EQ(second.result->digest, golden) << stop;
  }
}

TEST(BitsTest, ScheduleClippingAndAccumulationCount) {
  const std::string golden = UndisturbedDigest(AccumulatingRun());
  TrainOptions options = AccumulatingRun();
  options.job.optimizer.schedule.warmup = 3;
  EXPECT_NE(UndisturbedDigest(options), golden);
  options = AccumulatingRun();
  options.job.optimizer.clip.limit = 0.05f;
  EXPECT_NE(UndisturbedDigest(options), golden);
  options = AccumulatingRun();
  options.job.accumulate = 3;
  EXPECT_NE(UndisturbedDigest(options), golden);
}

// Each replica has its own moving means. The remainder of the samples leaves
// the last replicas without samples in some steps.
TrainOptions RunWithReplicaState() {
  TrainOptions options = SmallRun();
  options.job.model.layers[2] = {.kind = LayerKind::kCenter, .momentum = 0.9f};
  options.job.data.samples = 85;
  options.job.replicas = 5;
  options.job.remainder = Remainder::kKeep;
  return options;
}

TEST(ResumeTest, StateOfAReplicaFollowsItToAnyWorker) {
  const std::string golden = UndisturbedDigest(RunWithReplicaState());
  for (uint64_t stop = 1; stop < 20; ++stop) {
    TrainingFixture fixture(stop);
    TrainOptions options = RunWithReplicaState();
    options.horizon.stop_at_step = stop;
    const AttemptResult first = fixture.Run(3, options);
    ASSERT_TRUE(first.AllExitedWith(WorkerExit::kStopped)) << first.reasons[0];
    const AttemptResult second =
        fixture.Run(1 + static_cast<int>(stop % 5), options);
    ASSERT_TRUE(second.result) << second.reasons[0];
    EXPECT_EQ(second.result->digest, golden) << stop;
  }
}

TEST(BitsTest, StateOfReplicasIsTheSameOnAllRanksAfterEachStep) {
  const AttemptResult one = TrainingFixture().Run(1, RunWithReplicaState());
  const AttemptResult five = TrainingFixture().Run(5, RunWithReplicaState());
  for (size_t rank = 0; rank < 5; ++rank) {
    const auto expected = one.Of(EventKind::kStep);
    const auto found = five.Of(EventKind::kStep, rank);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].digest, expected[i].digest) << rank << ", step " << i;
    }
  }
}

TEST(ResumeTest, WorkersMayComeAndGoBetweenIncarnations) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  uint64_t stop = 0;
  for (const int workers : {4, 2, 1, 3}) {
    stop += 5;
    options.horizon.stop_at_step = stop;
    const AttemptResult outcome = fixture.Run(workers, options);
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStopped));
    EXPECT_EQ(outcome.result->steps, stop);
  }
  const AttemptResult last = fixture.Run(2, options);
  EXPECT_EQ(last.result->digest, UndisturbedDigest(options));
  EXPECT_EQ(last.result->epochs, kEpochs);
}

// Crashes one worker before every operation that changes the state.
TEST(ResumeTest, EveryPhaseIsAGoodPlaceToCrash) {
  const std::string golden = UndisturbedDigest(SmallRun());
  for (const Point point :
       {Point::kStepBegin, Point::kAllReduceEnd, Point::kStepEnd,
        Point::kEpochEnd, Point::kEvalBegin, Point::kFinish}) {
    for (const uint64_t epoch : {uint64_t{0}, uint64_t{2}}) {
      TrainingFixture fixture(epoch);
      const FaultPlan plan = {
          .faults = {{.id = "crash",
                      .site = {.worker = 1, .epoch = epoch, .point = point}}}};
      TrainOptions options = SmallRun();
      options.checkpoint.trigger = {.unit = SaveUnit::kSteps, .every = 1};
      const AttemptResult first = fixture.Run(3, options, plan);
      const std::string where =
          fmt::format("{} epoch {}", PointName(point), epoch);
      if (point != Point::kFinish) {
        EXPECT_EQ(first.exits[1], 70) << where;
        EXPECT_EQ(first.exits[0], static_cast<int>(WorkerExit::kLostWorker))
            << where;
      }
      const AttemptResult second = fixture.Run(2, options);
      ASSERT_TRUE(second.result) << where << ": " << second.reasons[0];
      EXPECT_EQ(second.result->digest, golden) << where;
    }
  }
}

TEST(RefusalTest, ChangedJobIsNamedAndLeftAlone) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.horizon.stop_at_step = 7;
  fixture.Run(2, options);
  options.job.optimizer.learning_rate = 0.5f;
  const AttemptResult refused = fixture.Run(2, options);
  EXPECT_TRUE(refused.AllExitedWith(WorkerExit::kOtherJob));
  EXPECT_THAT(refused.reasons,
              Each(HasSubstr("optimizer.learning_rate: 0.01 in the checkpoint, "
                             "0.5 now")));
  const AttemptResult good = fixture.Run(2, SmallRun());
  EXPECT_EQ(good.result->resumed_from, 7u);
}

TEST(RefusalTest, RefusesAColdStart_IfAllCheckpointsAreDamaged) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.horizon.stop_at_step = 7;
  const FaultPlan plan = {
      .faults = {{.id = "flip",
                  .site = {.worker = 1, .point = Point::kShardWrite},
                  .kind = FaultKind::kBitFlip,
                  .with = {.times = FaultTimes::kAlways,
                           .offset = {50, OffsetUnit::kPercent}}}}};
  ASSERT_TRUE(
      fixture.Run(2, options, plan).AllExitedWith(WorkerExit::kStopped));
  const AttemptResult refused = fixture.Run(2, SmallRun());
  EXPECT_TRUE(refused.AllExitedWith(WorkerExit::kNoCheckpoint));
  EXPECT_FALSE(refused.result);
  options = SmallRun();
  options.checkpoint.allow_cold_start = true;
  const AttemptResult allowed = fixture.Run(2, options);
  EXPECT_EQ(allowed.Of(EventKind::kInitialized).size(), 1u)
      << allowed.reasons[0];
  EXPECT_EQ(allowed.result->digest, UndisturbedDigest(options));
}

// The chief holds the bytes that its claim verified. If worker 1 then reads
// damaged ones, the two disagree: the attempt ends, and the next one chooses
// again.
TEST(RefusalTest, NextIncarnationFindsACheckpointDamagedAfterItWasChosen) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.horizon.stop_at_step = 7;
  fixture.Run(2, options);
  const FaultPlan plan = {
      .faults = {
          {.id = "flip",
           .site = {.worker = 1, .incarnation = 2, .point = Point::kLoadBegin},
           .kind = FaultKind::kBitFlip,
           .with = {.offset = {50, OffsetUnit::kPercent}}}}};
  const AttemptResult second = fixture.Run(2, SmallRun(), plan);
  EXPECT_TRUE(second.AllExitedWith(WorkerExit::kLostWorker))
      << second.exits[0] << " " << second.reasons[0] << "; " << second.exits[1]
      << " " << second.reasons[1];
  const AttemptResult third = fixture.Run(2, SmallRun());
  ASSERT_TRUE(third.result) << third.reasons[0];
  EXPECT_EQ(third.result->resumed_from, 5u);
  EXPECT_EQ(third.result->digest, UndisturbedDigest(SmallRun()));
}

// A store with one checkpoint of a small state.
class LoadStateTest : public testing::Test {
 protected:
  LoadStateTest()
      : kernels_(std::move(Kernels::Create({.isa = Isa::kScalar})).value()),
        model_(std::move(Model::Build(job_.model, {.height = 7, .width = 7}, 10,
                                      *kernels_))
                   .value()),
        optimizer_(Optimizer::Build(job_.optimizer, *kernels_)),
        schedule_(SampleSchedule::Make(job_, {.samples = 96}).value()),
        saved_(*model_, *optimizer_, job_) {
    saved_.optimizer.slots[0][1] = 0.25f;
    saved_.position.step = 3;
    const CheckpointHead head = {.step = 3,
                                 .state_digest = saved_.ComputeDigest(),
                                 .job_json = std::string(kJob)};
    const Claim claim = store_.ClaimGeneration(std::string(kJob)).value();
    const std::string save =
        store_.BeginSave(head, claim.generation).value().value();
    const ShardFile shard =
        store_.WriteShard(save, 0, 1, saved_.Tensors()).value();
    ref_ = store_.Commit(save, head, claim.generation, {&shard, 1}).value();
    shard_ = store_.PathOf(ref_) + "/" + shard.name;
  }

  TrainState Blank() const {
    return TrainState(*model_, *optimizer_, job_, StartFrom::kCheckpoint);
  }
  Status Load(TrainState& state) {
    return LoadState(test_.world, store_, ref_, schedule_, state);
  }

  MemoryStorage storage_;
  TestWorld test_{storage_};
  const JobSpec job_ = PresetJob("tiny").value();
  const std::unique_ptr<Kernels> kernels_;
  const std::unique_ptr<Model> model_;
  const std::unique_ptr<Optimizer> optimizer_;
  const SampleSchedule schedule_;
  TrainState saved_;
  CheckpointStore store_ = OpenStore(test_.world);
  CheckpointRef ref_;
  std::string shard_;
};

TEST_F(LoadStateTest, BringsBackEveryBit) {
  TrainState state = Blank();
  ASSERT_TRUE(Load(state).ok());
  EXPECT_EQ(state.position.step, 3u);
  EXPECT_EQ(state.ComputeDigest(), saved_.ComputeDigest());
}

TEST_F(LoadStateTest, DamagedCheckpointLeavesAStateThatCannotBeRead) {
  char& last = storage_.Bytes(shard_).back();
  last = static_cast<char>(last ^ 1);
  TrainState state = Blank();
  const Status damaged = Load(state);
  EXPECT_EQ(damaged.code(), Code::kUnavailable);
  EXPECT_THAT(damaged.message(), HasSubstr("expected xxh3_128"));
  EXPECT_EQ(state.CheckReadable().code(), Code::kFailedPrecondition);
  last = static_cast<char>(last ^ 1);
  ASSERT_TRUE(Load(state).ok());
  EXPECT_EQ(state.ComputeDigest(), saved_.ComputeDigest());
}

// A program must not mistake the part that was read before the failure for a
// trained state.
TEST(ResumeTest, LosesItsState_IfTheLoadFails) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.horizon.stop_at_step = 5;
  fixture.Run(1, options);
  TestFaults faults;
  faults.script = [](Point point, size_t) {
    return point == Point::kLoadEnd ? ResourceExhausted("no") : OkStatus();
  };
  const auto data = LoadData(fixture.disk(), options.job.data).value();
  const TrainInputs inputs = {
      .options = options,
      .data = *data,
      .job_json = JobToJson(options.job, data->content)};
  const WorkerSpec place = {.incarnation = 2,
                            .addresses = {"w0:7999"},
                            .token = *JobToken::Parse(std::string(64, 'a'))};
  NoProgressReporter reporter;
  std::optional<TrainedWorker> trained;
  fixture.simulation().Start(
      {.name = "w0.2", .host = "w0", .body = [&](World& world) {
         World faulty = {world.clock,  world.storage, world.network,
                         world.tasks,  world.host,    faults,
                         world.events, world.entropy};
         trained = TrainAsWorker(faulty, inputs, place, reporter);
         return 0;
       }});
  fixture.simulation().Run();
  ASSERT_TRUE(trained);
  EXPECT_EQ(trained->end.reason, "no");
  EXPECT_EQ(trained->end.exit, WorkerExit::kStartLater);
  EXPECT_FALSE(trained->state);
}

// Worker 1 fails at its third step. Its next incarnation fails as it receives
// the state that worker 0 holds.
TEST(ResumeTest, LosesItsState_IfNoneIsReceived) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.checkpoint = {};
  options.cluster.on_loss = OnLoss::kRejoin;
  const auto data = LoadData(fixture.disk(), options.job.data).value();
  const TrainInputs inputs = {
      .options = options,
      .data = *data,
      .job_json = JobToJson(options.job, data->content)};
  const auto place = [](int worker, int incarnation) {
    return WorkerSpec{.worker = worker,
                      .incarnation = incarnation,
                      .rank = worker,
                      .addresses = {"w0:7999", "w1:7999"},
                      .token = *JobToken::Parse(std::string(64, 'a'))};
  };
  TestFaults faults;
  faults.script = [steps = 0](Point point, size_t) mutable {
    const bool fails = point == Point::kStateReceive ||
                       (point == Point::kStepBegin && ++steps == 3);
    return fails ? ResourceExhausted("no") : OkStatus();
  };
  NoProgressReporter reporter;
  std::optional<TrainedWorker> holder;
  std::optional<TrainedWorker> receiver;
  fixture.simulation().Start(
      {.name = "w0.1", .host = "w0", .body = [&](World& world) {
         holder = TrainAsWorker(world, inputs, place(0, 1), reporter);
         return 0;
       }});
  fixture.simulation().Start(
      {.name = "w1.1", .host = "w1", .body = [&](World& world) {
         World faulty = {world.clock,  world.storage, world.network,
                         world.tasks,  world.host,    faults,
                         world.events, world.entropy};
         for (const int incarnation : {1, 2}) {
           receiver =
               TrainAsWorker(faulty, inputs, place(1, incarnation), reporter);
         }
         return 0;
       }});
  fixture.simulation().Run();
  ASSERT_TRUE(holder && receiver);
  EXPECT_GT(holder->state.value().position.step, 0u);
  EXPECT_EQ(receiver->end.reason, "no");
  EXPECT_FALSE(receiver->state);
}

TEST(SetUpTest, UnusableSetupIsBadInput) {
  TrainOptions options = SmallRun();
  const AttemptResult crowded = TrainingFixture().Run(5, options);
  EXPECT_TRUE(crowded.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(crowded.reasons, Each(HasSubstr("5 workers: expected at most")));
  options.job.batch = 100;
  const AttemptResult empty = TrainingFixture().Run(1, options);
  EXPECT_TRUE(empty.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(empty.reasons,
              Each(HasSubstr("4 replicas of 100 samples = 400")));
  options = SmallRun();
  options.job.model.layers[1].units = 65536;
  options.job.model.layers[2] = {.kind = LayerKind::kCenter};
  options.job.data.samples = 1024;
  options.job.replicas = 512;
  options.job.batch = 1;
  const AttemptResult large = TrainingFixture().Run(1, options);
  EXPECT_TRUE(large.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(large.reasons, Each(HasSubstr("expected at most 16777216 floats "
                                            "that all replicas keep")));
}

}  // namespace
}  // namespace gauntlet
