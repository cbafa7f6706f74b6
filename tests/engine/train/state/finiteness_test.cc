// Runs whose loss becomes NaN: their messages, where they stop, and which
// checkpoints remain.
#include "engine/train/state/finiteness.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/inspect.h"
#include "engine/finite.h"
#include "engine/job/layers.h"
#include "engine/math/kernels.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/loop/loop_reports.h"
#include "engine/train/loop/trainer.h"
#include "tests/engine/ckpt/test_world.h"
#include "tests/engine/train/training_fixture.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// From update 6 on the learning rate is 1000: the activations of step 9
// overflow, and its loss and the state after it are NaN.
constexpr uint64_t kFirstNan = 9;

TrainOptions Overflowing(uint64_t every = 2, int keep = 1) {
  TrainOptions options = SmallRun();
  options.job.model.layers = {layers::Flatten(), layers::Dense(16),
                              layers::Dense(16), layers::Dense(16),
                              layers::Dense(16), layers::Dense(10)};
  options.job.optimizer = {.kind = OptimizerKind::kSgd,
                           .schedule = {.kind = ScheduleKind::kPiecewise,
                                        .boundaries = {5},
                                        .values = {0.05f, 1000.0f}}};
  options.checkpoint.trigger = {.unit = SaveUnit::kSteps, .every = every};
  options.checkpoint.keep = keep;
  return options;
}

// A model so deep that the squares of gradients overflow in step 8. From then
// on Adam's second moments are infinite, parameters no longer change, and the
// loss stays finite.
constexpr uint64_t kFirstInfiniteSlot = 8;

TrainOptions OverflowingSlots(uint64_t every = 2, int keep = 1) {
  TrainOptions options = Overflowing(every, keep);
  options.job.model.layers = {layers::Flatten()};
  for (int i = 0; i < 8; ++i) {
    options.job.model.layers.push_back(layers::Dense(8));
  }
  options.job.model.layers.push_back(layers::Dense(10));
  options.job.optimizer.kind = OptimizerKind::kAdam;
  options.job.optimizer.schedule.values = {0.001f, 1000.0f};
  return options;
}

TrainOptions Stopping(TrainOptions options) {
  options.on_not_finite = OnNotFinite::kStop;
  return options;
}

std::vector<std::string> LinesWith(const AttemptResult& outcome,
                                   const std::string& what) {
  std::vector<std::string> found;
  std::ranges::copy_if(
      outcome.lines, std::back_inserter(found),
      [&](const std::string& line) { return line.find(what) != line.npos; });
  return found;
}

// Returns the step of each remaining checkpoint, and true if it is finite.
std::vector<std::pair<uint64_t, bool>> Left(TrainingFixture& fixture) {
  TestWorld test(fixture.disk());
  std::vector<std::pair<uint64_t, bool>> left;
  const auto store =
      InspectStore(test.world, "/ckpt", InspectDepth::kEveryByte).value();
  for (const CheckpointReport& report : store.checkpoints) {
    EXPECT_TRUE(report.verdict.ok()) << report.verdict.ToString();
    left.emplace_back(report.step, !report.not_finite_since);
  }
  return left;
}

TEST(AllFiniteTest, FindsOneValueWhereverItStands) {
  for (const float odd :
       {HUGE_VALF, -HUGE_VALF, std::numeric_limits<float>::quiet_NaN(),
        -std::numeric_limits<float>::quiet_NaN()}) {
    for (const size_t size : {1u, 7u, 1024u, 1025u, 5000u}) {
      std::vector<float> values(size, std::numeric_limits<float>::max());
      values[size / 2] = -std::numeric_limits<float>::denorm_min();
      EXPECT_TRUE(AllFinite(std::as_bytes(std::span(values)))) << size;
      for (const size_t place : {size_t{0}, size / 3, size - 1}) {
        const float before = std::exchange(values[place], odd);
        EXPECT_FALSE(AllFinite(std::as_bytes(std::span(values))))
            << odd << " at " << place << " of " << size;
        values[place] = before;
      }
    }
  }
  EXPECT_TRUE(AllFinite({}));
}

TEST(FinitenessTest, ReportsANonFiniteLossOnce) {
  TrainingFixture fixture;
  const AttemptResult outcome = fixture.Run(2, Overflowing());
  ASSERT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
  const auto warnings = LinesWith(outcome, ": loss is ");
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0],
              HasSubstr("step 9: loss is NaN; training continues"));
  EXPECT_THAT(warnings[0], HasSubstr("step-000000008-g1 (kept)"));
  EXPECT_FALSE(outcome.result->finite);
  for (size_t rank = 0; rank < 2; ++rank) {
    EXPECT_THAT(outcome.StepsOf(EventKind::kNotFinite, rank), SizeIs(1));
  }
}

// A run that stays finite has no such events or lines.
TEST(FinitenessTest, PrintsNothingAboutAFiniteRun) {
  const AttemptResult outcome = TrainingFixture().Run(2, SmallRun());
  EXPECT_THAT(LinesWith(outcome, "finite"), IsEmpty());
  EXPECT_THAT(outcome.Of(EventKind::kNotFinite), IsEmpty());
  EXPECT_TRUE(outcome.result->finite);
  EXPECT_EQ(outcome.result->not_finite_since, std::nullopt);
  for (const LogEvent& event : outcome.Of(EventKind::kSaveAcknowledged)) {
    EXPECT_EQ(event.count, 0);
  }
}

// The state is the same with any number of workers and on every instruction
// set, although NaN has many bit patterns.
TEST(FinitenessTest, RunsWithANanEndInTheSameState) {
  const std::string expected = UndisturbedDigest(Overflowing());
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (!Kernels::Create({.isa = isa}).ok()) continue;
    for (const int workers : {1, 2, 4}) {
      TrainOptions options = Overflowing();
      options.kernels.isa = isa;
      const AttemptResult outcome = TrainingFixture().Run(workers, options);
      ASSERT_TRUE(outcome.result) << outcome.reasons[0];
      EXPECT_EQ(outcome.result->digest, expected)
          << IsaName(isa) << ", " << workers << " workers";
    }
  }
}

TEST(FinitenessTest, RetentionKeepsTheNewestFiniteCheckpoint) {
  TrainingFixture fixture;
  for (const auto& [workers, stop] :
       {std::pair(2, 11), std::pair(1, 14), std::pair(3, 20)}) {
    TrainOptions options = Overflowing();
    options.horizon.stop_at_step = stop;
    fixture.Run(workers, options);
    EXPECT_EQ(Left(fixture).front(), std::pair(uint64_t{8}, true)) << stop;
  }
  fixture.Run(2, Overflowing());
  EXPECT_THAT(Left(fixture),
              ElementsAre(std::pair(8, true), std::pair(24, false)));
}

TEST(FinitenessTest, RetentionKeepsItWithAsynchronousSaves) {
  TrainingFixture fixture;
  TrainOptions options = Overflowing();
  options.checkpoint.mode = SaveMode::kAsync;
  fixture.Run(2, options);
  EXPECT_THAT(Left(fixture),
              ElementsAre(std::pair(8, true), std::pair(24, false)));
}

TEST(FinitenessTest, StateThatIsNotFiniteIsFoundByItsSave) {
  TrainingFixture fixture;
  const AttemptResult outcome = fixture.Run(2, OverflowingSlots());
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
  const auto warnings = LinesWith(outcome, "has non-finite values");
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], HasSubstr("step 8: tensor adam/v/dense"));
  EXPECT_THAT(LinesWith(outcome, ": loss is "), IsEmpty());
  EXPECT_TRUE(std::isfinite(*outcome.result->loss));
  EXPECT_FALSE(outcome.result->finite);
  EXPECT_EQ(outcome.result->not_finite_since, kFirstInfiniteSlot);
  EXPECT_THAT(Left(fixture),
              ElementsAre(std::pair(6, true), std::pair(24, false)));
}

TEST(FinitenessTest, StopsAtTheSameStepOnAllWorkers) {
  for (const SaveMode mode :
       {SaveMode::kSync, SaveMode::kAsync, SaveMode::kZeroCopy}) {
    TrainingFixture fixture;
    TrainOptions options = Stopping(Overflowing(3, 5));
    options.checkpoint.mode = mode;
    const AttemptResult outcome = fixture.Run(4, options);
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kNotFinite))
        << outcome.reasons[0];
    EXPECT_EQ(outcome.result->status, "not_finite");
    EXPECT_EQ(outcome.result->steps, kFirstNan);
    for (size_t rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(outcome.StepsOf(EventKind::kStep, rank).back(), kFirstNan);
    }
    EXPECT_THAT(Left(fixture),
                ElementsAre(std::pair(3, true), std::pair(6, true)));
  }
}

TEST(FinitenessTest, SaveThatFindsANonFiniteStateFailsAndStopsTheRun) {
  for (const SaveMode mode :
       {SaveMode::kSync, SaveMode::kAsync, SaveMode::kZeroCopy}) {
    TrainingFixture fixture;
    TrainOptions options = Stopping(OverflowingSlots(1, 2));
    options.checkpoint.mode = mode;
    const AttemptResult outcome = fixture.Run(2, options);
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kNotFinite))
        << outcome.reasons[0];
    EXPECT_THAT(Left(fixture),
                ElementsAre(std::pair(6, true), std::pair(7, true)));
  }
}

TEST(FinitenessTest, StopsAtOnce_WhenItWouldResumeFromSuchAState) {
  TrainingFixture fixture;
  TrainOptions options = Overflowing();
  options.horizon.stop_at_step = 12;
  fixture.Run(2, options);
  const AttemptResult outcome = fixture.Run(2, Stopping(Overflowing()));
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kNotFinite))
      << outcome.reasons[0];
  EXPECT_THAT(outcome.Of(EventKind::kStep), IsEmpty());
  EXPECT_EQ(outcome.result->steps, 12u);
  EXPECT_EQ(outcome.result->not_finite_since, kFirstNan);
  EXPECT_THAT(LinesWith(outcome, "since step 9"), SizeIs(1));
}

TEST(FinitenessTest, WithoutAStoreTheEndIsLookedAt) {
  TrainOptions options = Stopping(OverflowingSlots());
  options.checkpoint.directory.clear();
  options.horizon.max_steps = kFirstInfiniteSlot;
  const AttemptResult outcome = TrainingFixture().Run(2, options);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kNotFinite));
  EXPECT_EQ(outcome.result->not_finite_since, kFirstInfiniteSlot);
}

TEST(FinitenessTest, ExportsANonFiniteModelWithAWarning) {
  TrainingFixture fixture;
  TrainOptions options = Overflowing();
  options.export_directory = "/model";
  const AttemptResult outcome = fixture.Run(2, options);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
  EXPECT_THAT(LinesWith(outcome, "exported the model to /model"),
              ElementsAre(HasSubstr("not finite")));
}

// The save of the last step fails before it finds that the state is not finite.
TEST(FinitenessTest, StoppedRunDoesNotClaimAnExport_WhenItsLastSaveFails) {
  TrainingFixture fixture;
  TrainOptions options = Stopping(OverflowingSlots());
  options.checkpoint.trigger = {.unit = SaveUnit::kNone};
  options.horizon.max_steps = kFirstInfiniteSlot;
  options.export_directory = "/model";
  const FaultPlan no_room = {
      .faults = {{.id = "full",
                  .site = {.worker = 0, .point = Point::kSaveBegin},
                  .kind = FaultKind::kErrno,
                  .with = {.times = FaultTimes::kAlways, .error = ENOSPC}}}};
  const AttemptResult outcome = fixture.Run(2, options, no_room);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kNotFinite))
      << outcome.reasons[0];
  EXPECT_THAT(outcome.Of(EventKind::kSaveFailed), Not(IsEmpty()));
  EXPECT_THAT(LinesWith(outcome, "export"), IsEmpty());
  EXPECT_FALSE(fixture.disk().List("/model").ok());
}

TEST(FinitenessTest, BeforeTheFirstStepNothingIsMeasured) {
  TrainOptions options = SmallRun();
  options.horizon.max_steps = 0;
  const AttemptResult outcome = TrainingFixture().Run(1, options);
  ASSERT_TRUE(outcome.result) << outcome.reasons[0];
  EXPECT_EQ(outcome.result->loss, std::nullopt);
  EXPECT_EQ(outcome.result->accuracy, std::nullopt);
  EXPECT_EQ(outcome.result->val_accuracy, std::nullopt);
  EXPECT_TRUE(outcome.result->finite);
}

class Lines final : public ProgressReporter {
 public:
  void Progress(const WorkerProgress& progress) override {
    if (!progress.line.empty()) lines.push_back(progress.line);
    losses.push_back(progress.loss);
  }
  void Result(const TrainResult&) override {}

  std::vector<std::string> lines;
  std::vector<std::optional<float>> losses;
};

TEST(LoopReportsTest, OmitsUnmeasuredTimes) {
  MemoryStorage storage;
  TestWorld test(storage);
  const TrainOptions options = SmallRun();
  const JobModel built =
      BuildJobModel(options.job, {.height = 7, .width = 7}, 10, {}).value();
  TrainState state(*built.model, *built.optimizer, options.job);
  state.history = {.loss = {NAN},
                   .correct = {3},
                   .samples = {6},
                   .val_loss = {0.0f},
                   .val_correct = {0},
                   .val_samples = {0}};
  LoopReports reports(test.world, options, state);
  Lines reporter;
  reports.SetReporter(reporter, 6);
  reports.ReportLine("resumed");
  reports.ReportEpoch({});
  EXPECT_THAT(reporter.lines,
              ElementsAre("resumed", HasSubstr("loss nan  accuracy 0.5000")));
  EXPECT_THAT(reporter.lines[1], Not(HasSubstr("val_")));
  EXPECT_EQ(reporter.losses[0], std::nullopt);
}

}  // namespace
}  // namespace gauntlet
