#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/backup_and_restore.h"
#include "engine/api/interrupt_at.h"
#include "engine/api/model_checkpoint.h"
#include "tests/engine/api/fit_fixture.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

// Returns the small model with the given numbers of hidden units and classes.
Sequential ModelWith(int hidden, int classes) {
  Sequential model({.height = 7, .width = 7},
                   {layers::Flatten(), layers::Dense(hidden), layers::Relu(),
                    layers::Dense(classes)});
  const Status compiled = model.Compile({.seed = 9});
  CHECK(compiled.ok(), compiled.ToString());
  return model;
}

TEST(WeightsFileTest, SavedWeightsComeBack) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    Sequential trained = SmallModel();
    ASSERT_TRUE(trained.Fit(world, SmallDigits(), SmallFit(1, {})).ok());
    ASSERT_TRUE(trained.SaveWeights(world, "/w").ok());
    Sequential other = SmallModel();
    ASSERT_TRUE(other.LoadWeights(world, "/w").ok());
    EXPECT_TRUE(std::ranges::equal(other.weights(), trained.weights()));
  });
}

TEST(WeightsFileTest, DifferentModel_IsRefusedByItsParameter) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    ASSERT_TRUE(ModelWith(8, 10).SaveWeights(world, "/w").ok());
    Sequential other = ModelWith(8, 12);
    const std::vector<float> before(other.weights().begin(),
                                    other.weights().end());
    const Status status = other.LoadWeights(world, "/w");
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(),
                HasSubstr("dense1/kernel: expected 8x12 of F32, found 8x10"));
    EXPECT_TRUE(std::ranges::equal(other.weights(), before));
  });
}

TEST(WeightsFileTest, WarmStart_LoadsTheCommonParameters) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    const Sequential trained = ModelWith(8, 10);
    ASSERT_TRUE(trained.SaveWeights(world, "/w").ok());
    Sequential other = ModelWith(8, 12);
    const std::vector<float> before(other.weights().begin(),
                                    other.weights().end());
    ASSERT_TRUE(other.LoadWeights(world, "/w", PartialWeights::kAllow).ok());
    const size_t shared = 49 * 8 + 8;
    EXPECT_TRUE(std::ranges::equal(other.weights().first(shared),
                                   trained.weights().first(shared)));
    EXPECT_TRUE(std::ranges::equal(other.weights().subspan(shared),
                                   std::span(before).subspan(shared)));
  });
}

TEST(WeightsFileTest, ModelWithoutCommonParameters_IsRefused) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    ASSERT_TRUE(ModelWith(8, 10).SaveWeights(world, "/w").ok());
    Sequential other = ModelWith(9, 12);
    EXPECT_EQ(other.LoadWeights(world, "/w", PartialWeights::kAllow).code(),
              Code::kInvalidArgument);
  });
}

TEST(WeightsFileTest, WeightsOfACheckpointCanBeLoaded) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    BackupAndRestore backup(
        {.backup_dir = "/backup", .delete_checkpoint = false});
    Sequential trained = SmallModel();
    ASSERT_TRUE(trained.Fit(world, SmallDigits(), SmallFit(1, {&backup})).ok());
    Sequential other = SmallModel();
    const Status loaded = other.LoadWeights(world, "/backup/step-000000006-g1");
    ASSERT_TRUE(loaded.ok()) << loaded.ToString();
    EXPECT_TRUE(std::ranges::equal(other.weights(), trained.weights()));
  });
}

Sequential ModelWithMeans() {
  Sequential model({.height = 7, .width = 7},
                   {layers::Flatten(), layers::Dense(8), layers::Center(0.5f),
                    layers::Dense(10)});
  EXPECT_TRUE(model.Compile({.optimizer = {.learning_rate = 0.01f}}).ok());
  return model;
}

// Two replicas, each with its own moving means. The model is restored from a
// file, from a callback's file, and from a checkpoint.
TEST(WeightsFileTest, StateOfReplicasIsPartOfTheModel) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    const auto data = LoadData(world.storage, SmallDigits()).value();
    ModelCheckpoint best({.path = "/epoch"});
    BackupAndRestore backup(
        {.backup_dir = "/backup", .delete_checkpoint = false});
    FitOptions options = SmallFit(1, {&best, &backup});
    options.replicas = 2;
    options.batch = 8;
    Sequential trained = ModelWithMeans();
    ASSERT_TRUE(trained.Fit(world, SmallDigits(), options).ok());
    ASSERT_TRUE(trained.SaveWeights(world, "/w").ok());
    const float loss = trained.Evaluate(data->validation)->loss;
    const auto again = trained.Fit(world, SmallDigits(), SmallFit(1, {}));
    for (const char* const path :
         {"/w", "/epoch", "/backup/step-000000006-g1"}) {
      Sequential loaded = ModelWithMeans();
      EXPECT_NE(loaded.Evaluate(data->validation)->loss, loss);
      const Status taken = loaded.LoadWeights(world, path);
      ASSERT_TRUE(taken.ok()) << taken.ToString();
      EXPECT_EQ(loaded.Evaluate(data->validation)->loss, loss) << path;
      const auto next = loaded.Fit(world, SmallDigits(), SmallFit(1, {}));
      EXPECT_EQ(next->digest, again->digest) << path;
    }
  });
}

TEST(WeightsFileTest, AnotherStartIsAnotherJob) {
  FitFixture fixture;
  BackupAndRestore backup({.backup_dir = "/backup"});
  InterruptAt interrupt(InterruptPoint::kEpochSettled, 0);
  ASSERT_FALSE(FitOnce(fixture, SmallFit(3, {&backup, &interrupt})).ok());
  fixture.Run([&](World& world) {
    Sequential other = SmallModel();
    ASSERT_TRUE(SmallModel().SaveWeights(world, "/w").ok());
    ASSERT_TRUE(other.LoadWeights(world, "/w").ok());
    const auto fit = other.Fit(world, SmallDigits(), SmallFit(3, {&backup}));
    EXPECT_EQ(fit.status().code(), Code::kOtherJob);
    EXPECT_THAT(fit.status().message(), HasSubstr("start.weights"));
  });
}

TEST(WeightsFileTest, FitsFromLoadedWeightsDependOnThem) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    Sequential once = SmallModel();
    ASSERT_TRUE(once.Fit(world, SmallDigits(), SmallFit(1, {})).ok());
    ASSERT_TRUE(once.SaveWeights(world, "/w").ok());
    Sequential loaded = SmallModel();
    ASSERT_TRUE(loaded.LoadWeights(world, "/w").ok());
    const auto second = loaded.Fit(world, SmallDigits(), SmallFit(1, {}));
    const auto again = once.Fit(world, SmallDigits(), SmallFit(1, {}));
    EXPECT_EQ(second->digest, again->digest);
    EXPECT_NE(second->digest,
              SmallModel().Fit(world, SmallDigits(), SmallFit(1, {}))->digest);
  });
}

TEST(WeightsFileTest, RefusesOtherFilesByName) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    const auto file = world.storage.Open("/w", OpenMode::kCreateTruncate);
    const std::string text = "no such thing";
    ASSERT_TRUE((*file)->WriteAt(0, std::as_bytes(std::span(text))).ok());
    Sequential model = SmallModel();
    EXPECT_EQ(model.LoadWeights(world, "/w").code(), Code::kDataLoss);
    EXPECT_EQ(model.LoadWeights(world, "/nothing").code(), Code::kNotFound);
  });
}

}  // namespace
}  // namespace gauntlet
