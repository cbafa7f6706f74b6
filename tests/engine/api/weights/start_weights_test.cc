#include "engine/api/weights/start_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/api/fit_fixture.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Returns the options of the small model's job.
TrainOptions OptionsFor(const StartOptions& start) {
  TrainOptions options;
  options.job.model.layers = {layers::Flatten(), layers::Dense(8),
                              layers::Relu(), layers::Dense(10)};
  options.job.data = SmallDigits();
  options.start = start;
  return options;
}

class StartWeightsTest : public testing::Test {
 protected:
  // Saves a model of another seed, and loads the start weights of these
  // options.
  void Take(TrainOptions& options) {
    fixture_.Run([&](World& world) {
      Sequential model = SmallModel();
      ASSERT_TRUE(model.Compile({.seed = 9}).ok());
      ASSERT_TRUE(model.SaveWeights(world, "/w").ok());
      saved_.assign(model.weights().begin(), model.weights().end());
      const auto data = LoadData(world.storage, options.job.data).value();
      taken_ = LoadStartWeights(world, data->train, options);
    });
  }

  FitFixture fixture_;
  std::vector<float> saved_;
  Result<std::vector<float>> taken_ = std::vector<float>();
};

TEST_F(StartWeightsTest, WithoutAPathTheJobIsLeftAlone) {
  TrainOptions options = OptionsFor({});
  Take(options);
  EXPECT_THAT(taken_.value(), IsEmpty());
  EXPECT_FALSE(options.job.start.weights);
}

TEST_F(StartWeightsTest, WeightsBecomePartOfTheJob) {
  TrainOptions options = OptionsFor({.weights = "/w"});
  Take(options);
  EXPECT_EQ(taken_.value(), saved_);
  ASSERT_TRUE(options.job.start.weights);
  const Digest digest = *options.job.start.weights;
  Take(options);
  EXPECT_EQ(taken_.value(), saved_) << "the same start again";
  EXPECT_EQ(*options.job.start.weights, digest);
}

TEST_F(StartWeightsTest, AnotherStartThanTheJobsIsRefused) {
  TrainOptions options = OptionsFor({.weights = "/w"});
  options.job.start.weights = DigestOf("others");
  Take(options);
  EXPECT_EQ(taken_.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(taken_.status().message(),
              HasSubstr("/w: expected the weights of digest " +
                        DigestOf("others").ToString()));
}

TEST_F(StartWeightsTest, LoadsPartOfADifferentModel_OnlyIfAllowed) {
  TrainOptions options = OptionsFor({.weights = "/w"});
  options.job.model.layers = {layers::Flatten(), layers::Dense(8),
                              layers::Relu(),    layers::Dense(9),
                              layers::Relu(),    layers::Dense(10)};
  Take(options);
  EXPECT_THAT(taken_.status().message(),
              HasSubstr("dense1/kernel: expected 8x9 of F32, found 8x10"));
  EXPECT_FALSE(options.job.start.weights);
  options.start.partial = PartialWeights::kAllow;
  Take(options);
  const size_t shared = 49 * 8 + 8;
  EXPECT_TRUE(std::equal(saved_.begin(), saved_.begin() + shared,
                         taken_.value().begin()));
}

TEST_F(StartWeightsTest, NamesAFolderThatHasNoWeights) {
  fixture_.Run([](World& world) {
    ASSERT_TRUE(world.storage.MakeDirectory("/store").ok());
  });
  TrainOptions options = OptionsFor({.weights = "/store"});
  Take(options);
  EXPECT_THAT(taken_.status().message(),
              HasSubstr("/store: expected a checkpoint, an export or a file of "
                        "weights, found another directory"));
}

}  // namespace
}  // namespace gauntlet
