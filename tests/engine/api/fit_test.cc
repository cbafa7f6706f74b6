#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/backup_and_restore.h"
#include "engine/api/interrupt_at.h"
#include "tests/engine/api/fit_fixture.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

// Records the epochs that begin.
class EpochCounter final : public Callback {
 public:
  std::string name() const override { return "epoch_counter"; }
  Status OnEpochBegin(const Boundary& at) override {
    epochs.push_back(at.epoch);
    return OkStatus();
  }
  std::vector<uint64_t> epochs;
};

FitResult Undisturbed(uint64_t epochs) {
  FitFixture fixture;
  return FitOnce(fixture, SmallFit(epochs, {})).value();
}

TEST(FitTest, HasAnEntryForEachEpochAndLearns) {
  const FitResult fit = Undisturbed(5);
  EXPECT_EQ(fit.end, FitEnd::kFinished);
  EXPECT_EQ(fit.steps, 30u);
  ASSERT_EQ(fit.history.loss.size(), 5u);
  EXPECT_LT(fit.history.loss.back(), fit.history.loss.front());
}

TEST(FitTest, BackupIsGoneOnceTrainingIsDone) {
  FitFixture fixture;
  BackupAndRestore backup({.backup_dir = "/backup"});
  ASSERT_TRUE(FitOnce(fixture, SmallFit(2, {&backup})).ok());
  EXPECT_EQ(fixture.disk().List("/backup").status().code(), Code::kNotFound);
}

TEST(FitTest, BackupStaysIfConfigured) {
  FitFixture fixture;
  BackupAndRestore backup(
      {.backup_dir = "/backup", .delete_checkpoint = false});
  ASSERT_TRUE(FitOnce(fixture, SmallFit(2, {&backup})).ok());
  EXPECT_TRUE(fixture.disk().List("/backup").ok());
}

// Runs R2 and R8 of tests/PROMISES.md.
TEST(FitTest, InterruptionBehindTheFifthEpochsBackupLeavesFive) {
  FitFixture fixture;
  BackupAndRestore backup({.backup_dir = "/backup"});
  InterruptAt interrupt(InterruptPoint::kEpochSettled, 4);
  const auto first = FitOnce(fixture, SmallFit(10, {&backup, &interrupt}));
  EXPECT_EQ(first.status().code(), Code::kCancelled);
  EpochCounter counter;
  const FitResult second =
      FitOnce(fixture, SmallFit(10, {&backup, &counter})).value();
  EXPECT_EQ(counter.epochs, (std::vector<uint64_t>{5, 6, 7, 8, 9}));
  EXPECT_EQ(second.history.loss.size(), 10u);
  EXPECT_EQ(second.resumed_from, 30u);
  EXPECT_EQ(second.digest, Undisturbed(10).digest);
}

TEST(FitTest, InterruptionAtTheBeginOfTheFifthEpochLeavesSix) {
  FitFixture fixture;
  BackupAndRestore backup({.backup_dir = "/backup"});
  InterruptAt interrupt(InterruptPoint::kEpochBegin, 4);
  const auto first = FitOnce(fixture, SmallFit(10, {&backup, &interrupt}));
  EXPECT_THAT(first.status().message(),
              HasSubstr("interrupted on purpose at the begin of epoch 4"));
  EpochCounter counter;
  const FitResult second =
      FitOnce(fixture, SmallFit(10, {&backup, &counter})).value();
  EXPECT_EQ(counter.epochs.size(), 6u);
  EXPECT_EQ(second.digest, Undisturbed(10).digest);
}

TEST(FitTest, BackupOfStepsResumesAtExactlyTheSavedStep) {
  FitFixture fixture;
  BackupAndRestore backup(
      {.backup_dir = "/backup", .save_freq = SaveFrequency::Steps(4)});
  InterruptAt interrupt(InterruptPoint::kStepEnd, 11);
  ASSERT_FALSE(FitOnce(fixture, SmallFit(3, {&backup, &interrupt})).ok());
  const FitResult second = FitOnce(fixture, SmallFit(3, {&backup})).value();
  EXPECT_EQ(second.resumed_from, 8u);
  EXPECT_EQ(second.digest, Undisturbed(3).digest);
}

TEST(FitTest, AsynchronousBackupResumesAtASavedStepToo) {
  for (const SaveMode mode : {SaveMode::kAsync, SaveMode::kZeroCopy}) {
    FitFixture fixture;
    BackupAndRestore backup({.backup_dir = "/backup",
                             .save_freq = SaveFrequency::Steps(4),
                             .mode = mode});
    InterruptAt interrupt(InterruptPoint::kStepEnd, 11);
    ASSERT_FALSE(FitOnce(fixture, SmallFit(3, {&backup, &interrupt})).ok());
    const FitResult second = FitOnce(fixture, SmallFit(3, {&backup})).value();
    EXPECT_THAT(second.resumed_from, testing::AnyOf(4u, 8u));
    EXPECT_EQ(second.digest, Undisturbed(3).digest);
  }
}

TEST(FitTest, ModelWithGeluLearnsAndResumesWithTheSameBits) {
  const auto build = [] {
    Sequential model({.height = 7, .width = 7},
                     {layers::Flatten(), layers::Dense(8), layers::Gelu(),
                      layers::Dense(10)});
    CHECK(model.Compile({.optimizer = {.learning_rate = 0.01f}}).ok(), "gelu");
    return model;
  };
  FitFixture undisturbed;
  const FitResult whole = FitOnce(undisturbed, SmallFit(3, {}), build).value();
  EXPECT_LT(whole.history.loss.back(), whole.history.loss.front());
  FitFixture fixture;
  BackupAndRestore backup({.backup_dir = "/backup"});
  InterruptAt interrupt(InterruptPoint::kEpochBegin, 2);
  ASSERT_FALSE(
      FitOnce(fixture, SmallFit(3, {&backup, &interrupt}), build).ok());
  const FitResult second =
      FitOnce(fixture, SmallFit(3, {&backup}), build).value();
  EXPECT_EQ(second.resumed_from, 12u);
  EXPECT_EQ(second.digest, whole.digest);
}

TEST(FitTest, WithoutABackupARestartBeginsAgain) {
  FitFixture fixture;
  InterruptAt interrupt(InterruptPoint::kEpochEnd, 1);
  ASSERT_FALSE(FitOnce(fixture, SmallFit(3, {&interrupt})).ok());
  EpochCounter counter;
  ASSERT_TRUE(FitOnce(fixture, SmallFit(3, {&counter})).ok());
  EXPECT_EQ(counter.epochs.size(), 3u);
}

TEST(FitTest, InitialEpochApplies_WithoutABackup) {
  FitFixture fixture;
  FitOptions options = SmallFit(5, {});
  options.initial_epoch = 3;
  EpochCounter counter;
  options.callbacks = {&counter};
  const FitResult fit = FitOnce(fixture, options).value();
  EXPECT_EQ(counter.epochs, (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(fit.history.loss.size(), 2u);
}

TEST(FitTest, TwoWorkersAgreeWithOneThatHasTwoReplicas) {
  FitOptions alone = SmallFit(2, {});
  alone.replicas = 2;
  FitFixture one;
  const FitResult expected = FitOnce(one, alone).value();
  FitFixture two;
  std::vector<Digest> digests;
  two.Run(2, [&](World& world, const WorkerSpec& place) {
    FitOptions options = SmallFit(2, {});
    options.place = place;
    Sequential model = SmallModel();
    digests.push_back(model.Fit(world, SmallDigits(), options).value().digest);
  });
  EXPECT_EQ(digests, (std::vector<Digest>{expected.digest, expected.digest}));
}

// Run R5 of tests/PROMISES.md: the chief of two workers saves the model. A
// single worker loads the model and trains further; its job differs in the
// number of replicas.
TEST(FitTest, OneWorkerContinuesAModelOfTwoWorkers) {
  FitFixture fixture;
  fixture.Run(2, [&](World& world, const WorkerSpec& place) {
    FitOptions options = SmallFit(3, {});
    options.place = place;
    Sequential model = SmallModel();
    ASSERT_TRUE(model.Fit(world, SmallDigits(), options).ok());
    if (place.rank == 0) {
      ASSERT_TRUE(model.SaveWeights(world, "/model").ok());
    }
  });
  fixture.Run([](World& world) {
    Sequential model = SmallModel();
    ASSERT_TRUE(model.LoadWeights(world, "/model").ok());
    const auto data = LoadData(world.storage, SmallDigits()).value();
    const float before = model.Evaluate(data->train)->loss;
    const FitResult fit =
        model.Fit(world, SmallDigits(), SmallFit(2, {})).value();
    EXPECT_EQ(fit.steps, 12u);
    EXPECT_EQ(fit.history.loss.size(), 2u);
    EXPECT_LT(model.Evaluate(data->train)->loss, before);
  });
}

// Worker 1 is interrupted and leaves. On the other worker, Fit returns an
// error. When both are started again, they resume.
TEST(FitTest, SurvivorGetsAnError_AndResumesAfterTheRejoin) {
  FitFixture fixture;
  std::vector<Status> ends(2);
  std::vector<std::optional<uint64_t>> resumed(2);
  for (const bool interrupted : {true, false}) {
    fixture.Run(2, [&](World& world, const WorkerSpec& place) {
      BackupAndRestore backup({.backup_dir = "/backup"});
      InterruptAt interrupt(InterruptPoint::kStepEnd, 5);
      FitOptions options = SmallFit(4, {&backup});
      if (interrupted && place.rank == 1) {
        options.callbacks.push_back(&interrupt);
      }
      options.place = place;
      Sequential model = SmallModel();
      const auto fit = model.Fit(world, SmallDigits(), options);
      const auto rank = static_cast<size_t>(place.rank);
      ends[rank] = fit.status();
      if (fit.ok()) resumed[rank] = fit->resumed_from;
    });
    if (!interrupted) break;
    EXPECT_EQ(ends[0].code(), Code::kUnavailable) << ends[0].ToString();
    EXPECT_EQ(ends[1].code(), Code::kCancelled) << ends[1].ToString();
  }
  EXPECT_TRUE(ends[0].ok() && ends[1].ok());
  EXPECT_EQ(resumed[0], 3u);
  EXPECT_EQ(resumed[1], 3u);
}

// Sends a preemption notice in the second epoch.
class NoticeAt final : public Callback {
 public:
  NoticeAt(Simulation& simulation, int process)
      : simulation_(simulation), process_(process) {}
  std::string name() const override { return "notice_at"; }
  Status OnStepEnd(const Boundary& at, float) override {
    if (at.step == 8) simulation_.Notify(process_);
    return OkStatus();
  }

 private:
  Simulation& simulation_;
  int process_;
};

struct NoticeCase {
  bool save_before_preemption;
  uint64_t resumed_from;
};

class FitNoticeTest : public testing::TestWithParam<NoticeCase> {};

TEST_P(FitNoticeTest, NoticeStopsItAndTheNextCallContinues) {
  FitFixture fixture;
  BackupAndRestore backup(
      {.backup_dir = "/backup",
       .save_before_preemption = GetParam().save_before_preemption});
  NoticeAt notice(fixture.simulation(), fixture.simulation().process_count());
  const FitResult first =
      FitOnce(fixture, SmallFit(3, {&backup, &notice})).value();
  EXPECT_EQ(first.end, FitEnd::kPreempted);
  const FitResult second = FitOnce(fixture, SmallFit(3, {&backup})).value();
  EXPECT_EQ(second.resumed_from, GetParam().resumed_from);
  EXPECT_EQ(second.digest, Undisturbed(3).digest);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutASave, FitNoticeTest,
                         testing::Values(NoticeCase{true, 9},
                                         NoticeCase{false, 6}));

struct BadCase {
  std::string expected;
  std::function<void(FitOptions&)> spoil;
};

TEST(FitTest, RefusesInvalidOptionsByName) {
  BackupAndRestore unnamed({.backup_dir = ""});
  BackupAndRestore zero(
      {.backup_dir = "/b", .save_freq = SaveFrequency::Steps(0)});
  BackupAndRestore never(
      {.backup_dir = "/b", .save_freq = SaveFrequency::Never()});
  BackupAndRestore good({.backup_dir = "/b"});
  BackupAndRestore second({.backup_dir = "/c"});
  const std::vector<BadCase> cases = {
      {"backup_dir", [&](FitOptions& o) { o.callbacks = {&unnamed}; }},
      {"save_freq: expected at least 1",
       [&](FitOptions& o) { o.callbacks = {&zero}; }},
      {"never save", [&](FitOptions& o) { o.callbacks = {&never}; }},
      {"found two",
       [&](FitOptions& o) {
         o.callbacks = {&good, &second};
       }},
      {"batch: expected", [](FitOptions& o) { o.batch = -1; }},
      {"replicas: expected", [](FitOptions& o) { o.replicas = -3; }},
      {"accumulate: expected", [](FitOptions& o) { o.accumulate = 0; }},
  };
  for (const BadCase& bad : cases) {
    FitFixture fixture;
    FitOptions options = SmallFit(2, {});
    bad.spoil(options);
    const auto fit = FitOnce(fixture, options);
    EXPECT_EQ(fit.status().code(), Code::kInvalidArgument) << bad.expected;
    EXPECT_THAT(fit.status().message(), HasSubstr(bad.expected));
  }
}

TEST(FitTest, SamplesOfAnotherShapeAreRefused) {
  FitFixture fixture;
  std::optional<Status> status;
  fixture.Run([&](World& world) {
    Sequential model = SmallModel();
    status = model
                 .Fit(world, {.samples = 96, .validation_samples = 32},
                      SmallFit(1, {}))
                 .status();
  });
  EXPECT_THAT(status->message(),
              HasSubstr("expected samples of 7x7x1 as the model's input, found "
                        "28x28x1"));
}

TEST(FitTest, EvaluatesAsTrainingDid) {
  FitFixture fixture;
  fixture.Run([&](World& world) {
    Sequential model = SmallModel();
    const FitResult fit =
        model.Fit(world, SmallDigits(), SmallFit(3, {})).value();
    const auto data = LoadData(world.storage, SmallDigits()).value();
    const EpochMetrics metrics = model.Evaluate(data->validation).value();
    EXPECT_EQ(metrics.loss, fit.history.val_loss.back());
    EXPECT_EQ(metrics.accuracy, MetricsOf(fit.history, 2).val_accuracy);
  });
}

}  // namespace
}  // namespace gauntlet
