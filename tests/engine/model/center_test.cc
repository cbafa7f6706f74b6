#include "engine/model/center.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/model/training_loop.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;

// Two channels at two places.
class CenterTest : public ::testing::Test {
 protected:
  const std::unique_ptr<Kernels> kernels_ = MakeKernels(Isa::kAuto, 1);
  const Center layer_{
      {.name = "center0", .places = 2, .channels = 2, .momentum = 0.75f},
      *kernels_};
  const std::vector<float> x_ = {1, 10, 3, 20, 5, 30, 7, 40};  // two rows
  const std::vector<float> mean_ = {2, 8};
  std::vector<float> y_ = std::vector<float>(8);
};

TEST_F(CenterTest, TrainingSubtractsTheOldMeanAndMovesTheNewOne) {
  std::vector<float> next(2);
  layer_.Forward({.rows = 2, .state = mean_, .next_state = next}, {}, x_, y_);
  EXPECT_THAT(y_, ElementsAre(-1, 2, 1, 12, 3, 22, 5, 32));
  EXPECT_THAT(next, ElementsAre(0.75f * 2 + 0.25f * 4, 0.75f * 8 + 0.25f * 25));
}

TEST_F(CenterTest, EvaluationOnlySubtracts) {
  layer_.Forward({.pass = Pass::kEvaluation, .rows = 2, .state = mean_}, {}, x_,
                 y_);
  EXPECT_THAT(y_, ElementsAre(-1, 2, 1, 12, 3, 22, 5, 32));
}

TEST_F(CenterTest, GradientsPassThrough) {
  std::vector<float> dx(8);
  layer_.InputGradient({.rows = 2}, {.dy = x_, .dx = dx});
  EXPECT_EQ(dx, x_);
}

TEST_F(CenterTest, ModelNamesTheStateOfItsReplicas) {
  const ModelSpec spec = {
      .layers = {{.kind = LayerKind::kConv2D, .filters = 3, .kernel = 2},
                 {.kind = LayerKind::kCenter},
                 {.kind = LayerKind::kFlatten},
                 {.kind = LayerKind::kCenter},
                 {.kind = LayerKind::kDense, .units = 10}}};
  const auto model =
      Model::Build(spec, {.height = 4, .width = 4}, 10, *kernels_).value();
  ASSERT_EQ(model->replica_state().size(), 2u);
  EXPECT_EQ(model->replica_state()[0].name, "center0/moving_mean");
  EXPECT_EQ(model->replica_state()[0].size, 3u) << "a channel each";
  EXPECT_EQ(model->replica_state()[1].offset, 3u);
  EXPECT_EQ(model->replica_state_size(), 3u + 3 * 3 * 3);
}

TEST_F(CenterTest, NoRowsLeaveTheStateAsItIs) {
  const ModelSpec spec = {.layers = {{.kind = LayerKind::kFlatten},
                                     {.kind = LayerKind::kCenter},
                                     {.kind = LayerKind::kDense, .units = 10}}};
  const auto model =
      Model::Build(spec, {.height = 1, .width = 2}, 10, *kernels_).value();
  std::vector<float> parameters(model->parameter_count());
  std::vector<float> gradients(parameters.size());
  std::vector<float> next(2);
  model->Gradients(parameters, {.state = mean_, .next_state = next}, gradients);
  EXPECT_EQ(next, mean_);
}

}  // namespace
}  // namespace gauntlet
