#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "engine/numerics.h"
#include "tests/engine/model/double_model.h"
#include "tests/engine/model/training_loop.h"

namespace gauntlet {
namespace {

constexpr uint32_t kHeight = 3;
constexpr uint32_t kWidth = 4;
constexpr uint32_t kClasses = 3;
constexpr uint32_t kRows = 9;

constexpr LayerSpec kFlatten = {.kind = LayerKind::kFlatten};
constexpr LayerSpec kRelu = {.kind = LayerKind::kRelu};
constexpr LayerSpec kGelu = {.kind = LayerKind::kGelu};
constexpr LayerSpec kDropout = {.kind = LayerKind::kDropout, .rate = 0.3f};
constexpr LayerSpec kHidden = {.kind = LayerKind::kDense, .units = 8};
constexpr LayerSpec kOutput = {.kind = LayerKind::kDense, .units = kClasses};

// Returns uniform numbers in [-1, 1], which differ between streams.
std::vector<float> RandomFloats(size_t count, uint32_t stream_id) {
  const auto stream =
      numerics::MakeStream(99, numerics::Purpose::kInit, stream_id, 0);
  std::vector<float> values(count);
  for (uint32_t i = 0; i < count; ++i) {
    values[i] =
        numerics::UniformSymmetric(numerics::StreamWord(stream, 0, i), 1.0f);
  }
  return values;
}

constexpr LayerSpec kConv = {
    .kind = LayerKind::kConv2D, .filters = 5, .kernel = 2};
constexpr LayerSpec kSecondConv = {
    .kind = LayerKind::kConv2D, .filters = 3, .kernel = 2};

struct Stack {
  const char* name;
  std::vector<LayerSpec> layers;
};

const Stack kStacks[] = {
    {"dense", {kFlatten, kOutput}},
    {"two dense", {kFlatten, kHidden, kOutput}},
    {"relu", {kFlatten, kHidden, kRelu, kOutput}},
    {"gelu", {kFlatten, kHidden, kGelu, kOutput}},
    {"two gelu behind each other", {kFlatten, kHidden, kGelu, kGelu, kOutput}},
    {"gelu before the first parameters", {kFlatten, kGelu, kOutput}},
    {"gelu at the end", {kFlatten, kOutput, kGelu}},
    {"dropout", {kFlatten, kHidden, kDropout, kOutput}},
    {"relu and dropout before the first parameters",
     {kFlatten, kRelu, kDropout, kOutput}},
    {"relu and dropout at the end", {kFlatten, kOutput, kRelu, kDropout}},
    {"convolution", {kConv, kFlatten, kOutput}},
    {"two convolutions",
     {kConv, kRelu, kSecondConv, kDropout, kFlatten, kHidden, kRelu, kOutput}},
    {"gelu behind a convolution", {kConv, kGelu, kFlatten, kOutput}},
    {"all", {kFlatten, kHidden, kRelu, kDropout, kHidden, kGelu, kOutput}},
};

class GradientTest : public ::testing::TestWithParam<LossKind> {};

// The error of a sum over k terms is at most k 2^-24 of their magnitudes. Here
// k <= 12 in each of at most six consecutive products, and the loss functions
// add a few units. 128 units of the largest gradient is above all of this, and
// far below the error of any wrong formula.
constexpr double kTolerance = 128 * 0x1p-24;

TEST_P(GradientTest, AgreesWithCentralDifferences) {
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  const std::vector<float> features = RandomFloats(kRows * kHeight * kWidth, 1);
  const std::vector<uint8_t> labels = {0, 1, 2, 2, 1, 0, 0, 2, 1};
  const ReplicaBatch batch{.features = features,
                           .labels = labels,
                           .loss_scale = 1.0f / 20,
                           .rng_key = 5,
                           .step = 3,
                           .first_global_row = 11};
  for (const Stack& stack : kStacks) {
    const ModelSpec spec{.layers = stack.layers, .loss = GetParam()};
    const auto model = Model::Build(spec, {.height = kHeight, .width = kWidth},
                                    kClasses, *kernels)
                           .value();
    const auto parameters = RandomFloats(model->parameter_count(), 2);
    std::vector<float> gradients(parameters.size(), 123.0f);
    const ReplicaResult result = model->Gradients(parameters, batch, gradients);
    const auto expected = DifferenceGradients(spec, kWidth, batch, parameters);
    double largest = 0.0;
    for (const double value : expected) {
      largest = std::max(largest, std::abs(value));
    }
    ASSERT_GT(largest, 0.01) << stack.name;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(gradients[i], expected[i], kTolerance * largest)
          << stack.name << ", parameter " << i;
    }
    const double loss =
        DoubleLoss(spec, kWidth, batch,
                   std::vector<double>(parameters.begin(), parameters.end()));
    EXPECT_NEAR(result.loss, loss, kTolerance * loss) << stack.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, GradientTest,
                         ::testing::Values(LossKind::kSoftmaxCrossEntropy,
                                           LossKind::kMeanSquaredError));

}  // namespace
}  // namespace gauntlet
