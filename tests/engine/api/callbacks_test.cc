#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/backup_and_restore.h"
#include "engine/api/early_stopping.h"
#include "engine/api/interrupt_at.h"
#include "engine/api/model_checkpoint.h"
#include "engine/api/terminate_on_nan.h"
#include "tests/engine/api/fit_fixture.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Calls the callback as a run with these losses per epoch would. Returns the
// number of epochs until it requests a stop; 0 if it never does.
uint64_t EpochsUntilStop(const EarlyStoppingOptions& options,
                         const std::vector<float>& losses) {
  EarlyStopping stopping(options);
  FitFixture fixture;
  uint64_t stopped = 0;
  fixture.Run([&](World& world) {
    std::vector<float> state(stopping.StateSize({}));
    for (size_t i = 0; i < losses.size() && stopped == 0; ++i) {
      const Boundary at = {
          Progress{.world = world, .epoch = i + 1}, {}, {}, {}, state};
      const Status status = stopping.OnEpochEnd(at, {.loss = losses[i]});
      EXPECT_TRUE(status.ok()) << status.ToString();
      if (stopping.WantsToStop()) stopped = i + 1;
    }
  });
  return stopped;
}

TEST(EarlyStoppingTest, StopsAfterNEpochsWithoutImprovement) {
  const std::vector<float> losses = {3, 2, 2.5f, 1.9f, 1.95f, 1.92f, 1};
  const auto epochs = [&](uint32_t patience) {
    return EpochsUntilStop({.monitor = Monitor::kLoss, .patience = patience},
                           losses);
  };
  EXPECT_EQ(epochs(0), 3u);
  EXPECT_EQ(epochs(1), 3u);
  EXPECT_EQ(epochs(2), 6u);
  EXPECT_EQ(epochs(3), 0u);
}

TEST(EarlyStoppingTest, ChangeBelowTheMinimumIsNoImprovement) {
  EXPECT_EQ(EpochsUntilStop(
                {.monitor = Monitor::kLoss, .min_delta = 0.5, .patience = 2},
                {3, 2.9f, 2.6f, 1}),
            3u);
}

TEST(EarlyStoppingTest, HasToBeatTheBaseline) {
  EXPECT_EQ(EpochsUntilStop(
                {.monitor = Monitor::kLoss, .patience = 2, .baseline = 1.0},
                {3, 2, 0.5f}),
            2u);
}

TEST(EarlyStoppingTest, FirstEpochsDoNotCountIfConfigured) {
  EXPECT_EQ(
      EpochsUntilStop(
          {.monitor = Monitor::kLoss, .patience = 1, .start_from_epoch = 2},
          {1, 2, 3, 4}),
      4u);
}

TEST(EarlyStoppingTest, NanIsNoImprovement) {
  EXPECT_EQ(EpochsUntilStop({.monitor = Monitor::kLoss, .patience = 2},
                            {NAN, NAN, 1}),
            2u);
  EXPECT_EQ(EpochsUntilStop({.monitor = Monitor::kLoss, .patience = 2},
                            {HUGE_VALF, HUGE_VALF, 1}),
            2u);
  EXPECT_EQ(
      EpochsUntilStop({.monitor = Monitor::kLoss, .patience = 2, .baseline = 5},
                      {4, NAN, NAN}),
      3u);
}

TEST(EarlyStoppingTest, RefusesAMonitorWithoutValidation) {
  FitFixture fixture;
  EarlyStopping stopping({.monitor = Monitor::kValLoss});
  fixture.Run([&](World& world) {
    std::vector<float> state(stopping.StateSize({}));
    const Boundary at = {
        Progress{.world = world, .epoch = 1}, {}, {}, {}, state};
    const Status status = stopping.OnEpochEnd(at, {.loss = 1.0f});
    EXPECT_THAT(status.message(), HasSubstr("expected validation samples"));
  });
}

TEST(EarlyStoppingTest, RestoresReplicaStateOfBestModel) {
  FitFixture fixture;
  EarlyStopping stopping(
      {.monitor = Monitor::kLoss, .restore_best_weights = true});
  fixture.Run([&](World& world) {
    std::vector<float> weights = {1, 2};
    std::vector<float> kept = {3};
    std::vector<float> state(
        stopping.StateSize({.parameters = 2, .replica_state = 1}));
    Boundary at = {
        Progress{.world = world, .epoch = 1}, {}, weights, kept, state};
    ASSERT_TRUE(stopping.OnEpochEnd(at, {.loss = 1.0f}).ok());
    weights = {4, 5};
    kept = {6};
    at.epoch = 2;
    ASSERT_TRUE(stopping.OnEpochEnd(at, {.loss = 2.0f}).ok());
    EXPECT_THAT(weights, ElementsAre(1, 2));
    EXPECT_THAT(kept, ElementsAre(3));
  });
}

// Returns options that stop a run soon, as the accuracy stays the same from
// some epoch on.
EarlyStoppingOptions OnAccuracy() {
  return {.monitor = Monitor::kValAccuracy,
          .patience = 2,
          .restore_best_weights = true};
}

TEST(EarlyStoppingTest, InterruptedRun_StopsAtTheSameEpoch) {
  FitFixture undisturbed;
  EarlyStopping whole(OnAccuracy());
  const FitResult expected =
      FitOnce(undisturbed, SmallFit(40, {&whole})).value();
  const uint64_t epochs = expected.history.loss.size();
  ASSERT_LT(epochs, 40u);
  FitFixture fixture;
  BackupAndRestore backup({.backup_dir = "/backup"});
  InterruptAt interrupt(InterruptPoint::kEpochSettled, epochs - 2);
  EarlyStopping before(OnAccuracy());
  ASSERT_FALSE(
      FitOnce(fixture, SmallFit(40, {&before, &backup, &interrupt})).ok());
  EarlyStopping after(OnAccuracy());
  const FitResult fit =
      FitOnce(fixture, SmallFit(40, {&after, &backup})).value();
  EXPECT_EQ(fit.history.loss.size(), epochs);
  EXPECT_EQ(fit.digest, expected.digest);
}

TEST(EarlyStoppingTest, TrainingEndsWithTheBestWeights) {
  FitFixture fixture;
  fixture.Run([&](World& world) {
    Sequential model = SmallModel();
    EarlyStopping stopping(OnAccuracy());
    const FitResult fit =
        model.Fit(world, SmallDigits(), SmallFit(40, {&stopping})).value();
    double best = 0.0;
    for (size_t i = 0; i < fit.history.loss.size(); ++i) {
      best = std::max(best, MetricsOf(fit.history, i).val_accuracy);
    }
    ASSERT_LT(fit.history.loss.size(), 40u);
    const auto data = LoadData(world.storage, SmallDigits()).value();
    EXPECT_EQ(model.Evaluate(data->validation)->accuracy, best);
  });
}

TEST(EarlyStoppingTest, FinishedRunThatIsCalledAgainTrainsNoFurther) {
  FitFixture fixture;
  BackupAndRestore backup(
      {.backup_dir = "/backup", .delete_checkpoint = false});
  EarlyStopping first(OnAccuracy());
  const FitResult once =
      FitOnce(fixture, SmallFit(40, {&first, &backup})).value();
  EarlyStopping second(OnAccuracy());
  const FitResult again =
      FitOnce(fixture, SmallFit(40, {&second, &backup})).value();
  EXPECT_EQ(again.steps, once.steps);
  EXPECT_EQ(again.digest, once.digest);
}

// A run that ends with a low patience and continues with a higher one must
// equal a run that had the higher patience from the start.
TEST(EarlyStoppingTest, PatienceRaisedAfterAStop_ContinuesBitForBit) {
  for (const bool restore : {false, true}) {
    EarlyStoppingOptions options = OnAccuracy();
    options.restore_best_weights = restore;
    FitFixture undisturbed;
    options.patience = 4;
    EarlyStopping patient(options);
    const FitResult expected =
        FitOnce(undisturbed, SmallFit(40, {&patient})).value();
    FitFixture fixture;
    BackupAndRestore backup(
        {.backup_dir = "/backup", .delete_checkpoint = false});
    options.patience = 2;
    EarlyStopping first(options);
    const FitResult stopped =
        FitOnce(fixture, SmallFit(30, {&first, &backup})).value();
    ASSERT_LT(stopped.steps, expected.steps);
    EXPECT_EQ(stopped.stopped_by, "early_stopping");
    options.patience = 4;
    EarlyStopping second(options);
    const FitResult fit =
        FitOnce(fixture, SmallFit(40, {&second, &backup})).value();
    EXPECT_EQ(fit.resumed_from, stopped.steps);
    EXPECT_EQ(fit.steps, expected.steps);
    EXPECT_EQ(fit.digest, expected.digest) << restore;
  }
}

// A callback whose state has `size` numbers.
class CallbackWithState final : public Callback {
 public:
  explicit CallbackWithState(size_t size) : size_(size) {}
  std::string name() const override { return "keeper"; }
  size_t StateSize(const ModelExtent&) const override { return size_; }

 private:
  size_t size_;
};

// Interrupts a run with one list of callbacks, and restarts it with another.
Status Restarted(std::vector<Callback*> before, std::vector<Callback*> after) {
  FitFixture fixture;
  BackupAndRestore backup({.backup_dir = "/backup"});
  InterruptAt interrupt(InterruptPoint::kEpochSettled, 1);
  before.insert(before.end(), {&backup, &interrupt});
  EXPECT_FALSE(FitOnce(fixture, SmallFit(4, before)).ok());
  after.insert(after.begin(), &backup);
  return FitOnce(fixture, SmallFit(4, after)).status();
}

TEST(CallbackTest, ChangedOption_IsNamed_IfStateDependsOnIt) {
  const EarlyStoppingOptions first_options = {.monitor = Monitor::kValLoss,
                                              .min_delta = 0.5,
                                              .patience = 9,
                                              .restore_best_weights = true};
  struct Case {
    void (*change)(EarlyStoppingOptions&);
    std::string named;
  };
  const Case kCases[] = {
      {[](auto& now) { now.restore_best_weights = false; },
       "restore_best_weights: true in the checkpoint, false now"},
      {[](auto& now) { now.monitor = Monitor::kLoss; },
       "monitor: val_loss in the checkpoint, loss now"},
      {[](auto& now) { now.min_delta = 0.25; },
       "min_delta: 0.5 in the checkpoint, 0.25 now"},
      {[](auto& now) { now.baseline = 1.0; },
       "baseline: none in the checkpoint, 1 now"},
      {[](auto& now) { now.start_from_epoch = 2; },
       "start_from_epoch: 0 in the checkpoint, 2 now"}};
  for (const Case& one : kCases) {
    EarlyStopping before(first_options);
    EarlyStoppingOptions changed = first_options;
    one.change(changed);
    EarlyStopping after(changed);
    const Status refused = Restarted({&before}, {&after});
    EXPECT_EQ(refused.code(), Code::kOtherJob);
    EXPECT_THAT(refused.message(),
                HasSubstr("callback early_stopping: " + one.named));
  }
}

TEST(CallbackTest, CallbackAddedRemovedOrOfAnotherSize_IsNamed) {
  EarlyStopping stopping({.patience = 9});
  ModelCheckpoint weights({.path = "/weights-{epoch}"});
  CallbackWithState small(2);
  CallbackWithState large(5);
  const struct {
    std::vector<Callback*> before;
    std::vector<Callback*> after;
    std::string named;
  } kCases[] = {
      {{}, {&stopping}, "callback early_stopping: none in the checkpoint"},
      {{&stopping}, {}, "callback early_stopping: in the checkpoint, none now"},
      {{&stopping},
       {&stopping, &weights},
       "callback model_checkpoint: none in the checkpoint, one now"},
      {{&small},
       {&large},
       "callback keeper: its state has 2 numbers in the "
       "checkpoint, 5 now"},
  };
  for (const auto& one : kCases) {
    const Status refused = Restarted(one.before, one.after);
    EXPECT_EQ(refused.code(), Code::kOtherJob);
    EXPECT_THAT(refused.message(), HasSubstr(one.named));
  }
}

TEST(CallbackTest, OtherOrder_IsNoOtherJob) {
  EarlyStopping stopping({.patience = 9});
  ModelCheckpoint weights({.path = "/weights-{epoch}"});
  const Status again = Restarted({&stopping, &weights}, {&weights, &stopping});
  EXPECT_TRUE(again.ok()) << again.ToString();
}

TEST(CallbackTest, CallbackMissingInBackup_IsRefusedByName) {
  FitFixture fixture;
  BackupAndRestore backup({.backup_dir = "/backup"});
  InterruptAt interrupt(InterruptPoint::kEpochSettled, 1);
  ASSERT_FALSE(FitOnce(fixture, SmallFit(4, {&backup, &interrupt})).ok());
  EarlyStopping stopping(OnAccuracy());
  const auto fit = FitOnce(fixture, SmallFit(4, {&backup, &stopping}));
  EXPECT_THAT(fit.status().message(), HasSubstr("early_stopping"));
}

std::vector<std::string> FilesIn(Storage& disk, const std::string& directory) {
  std::vector<std::string> names;
  const std::vector<DirectoryEntry> entries = disk.List(directory).value();
  for (const DirectoryEntry& entry : entries) names.push_back(entry.name);
  return names;
}

TEST(ModelCheckpointTest, KeepsTheWeightsOfEachEpoch) {
  FitFixture fixture;
  ModelCheckpoint keep({.path = "/weights/{epoch:02}.safetensors"});
  ASSERT_TRUE(fixture.disk().MakeDirectory("/weights").ok());
  ASSERT_TRUE(FitOnce(fixture, SmallFit(3, {&keep})).ok());
  EXPECT_THAT(
      FilesIn(fixture.disk(), "/weights"),
      ElementsAre("01.safetensors", "02.safetensors", "03.safetensors"));
}

TEST(ModelCheckpointTest, KeepsTheWeightsOfTheBestEpoch) {
  FitFixture fixture;
  ASSERT_TRUE(fixture.disk().MakeDirectory("/weights").ok());
  fixture.Run([&](World& world) {
    ModelCheckpoint best(
        {.path = "/weights/best.safetensors", .keep = KeepWeights::kOfTheBest});
    Sequential model = SmallModel();
    const FitResult fit =
        model.Fit(world, SmallDigits(), SmallFit(12, {&best})).value();
    ASSERT_TRUE(model.LoadWeights(world, "/weights/best.safetensors").ok());
    const auto data = LoadData(world.storage, SmallDigits()).value();
    EXPECT_EQ(model.Evaluate(data->validation)->loss,
              *std::ranges::min_element(fit.history.val_loss));
  });
}

// Returns a model that learns so fast that its loss soon becomes NaN.
Sequential OverflowingModel() {
  Sequential model({.height = 7, .width = 7},
                   {layers::Flatten(), layers::Dense(16), layers::Dense(16),
                    layers::Dense(16), layers::Dense(16), layers::Dense(10)});
  const Status compiled = model.Compile(
      {.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 1000.0f}});
  CHECK(compiled.ok(), compiled.ToString());
  return model;
}

FitResult FitOverflowing(FitFixture& fixture,
                         std::vector<Callback*> callbacks) {
  std::optional<Result<FitResult>> result;
  fixture.Run([&](World& world) {
    Sequential model = OverflowingModel();
    result = model.Fit(world, SmallDigits(), SmallFit(3, std::move(callbacks)));
  });
  return result->value();
}

TEST(TerminateOnNaNTest, EndsAtTheFirstStepWithNaN) {
  FitFixture fixture;
  const FitResult to_the_end = FitOverflowing(fixture, {});
  EXPECT_EQ(to_the_end.end, FitEnd::kFinished);
  EXPECT_EQ(to_the_end.steps, 18u);
  ASSERT_TRUE(to_the_end.not_finite_since);
  TerminateOnNaN terminate;
  const FitResult fit = FitOverflowing(fixture, {&terminate});
  EXPECT_EQ(fit.end, FitEnd::kNotFinite);
  EXPECT_EQ(fit.steps, to_the_end.not_finite_since);
}

TEST(TerminateOnNaNTest, LeavesTheBackupOfAFiniteState) {
  FitFixture fixture;
  TerminateOnNaN terminate;
  BackupAndRestore backup(
      {.backup_dir = "/backup", .save_freq = SaveFrequency::Steps(1)});
  const FitResult first = FitOverflowing(fixture, {&terminate, &backup});
  EXPECT_EQ(first.end, FitEnd::kNotFinite);
  const FitResult again = FitOverflowing(fixture, {&terminate, &backup});
  EXPECT_EQ(again.end, FitEnd::kNotFinite);
  ASSERT_TRUE(again.resumed_from);
  EXPECT_LT(*again.resumed_from, *first.not_finite_since);
}

TEST(ModelCheckpointTest, LossThatIsNotFiniteIsNeverTheBest) {
  FitFixture fixture;
  ASSERT_TRUE(fixture.disk().MakeDirectory("/weights").ok());
  ModelCheckpoint best({.path = "/weights/best.safetensors",
                        .keep = KeepWeights::kOfTheBest,
                        .monitor = Monitor::kLoss});
  const FitResult fit = FitOverflowing(fixture, {&best});
  ASSERT_FALSE(std::isfinite(fit.history.loss.front()));
  EXPECT_THAT(fixture.disk().List("/weights").value(), testing::IsEmpty());
}

TEST(ModelCheckpointTest, NamesAPatternThatItCannotFill) {
  FitFixture fixture;
  ModelCheckpoint keep({.path = "/weights/{nothing}"});
  const auto fit = FitOnce(fixture, SmallFit(1, {&keep}));
  EXPECT_EQ(fit.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(fit.status().message(), HasSubstr("/weights/{nothing}"));
}

}  // namespace
}  // namespace gauntlet
