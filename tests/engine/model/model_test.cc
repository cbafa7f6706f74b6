#include "engine/model/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/model/training_loop.h"

namespace gauntlet {
namespace {

constexpr LayerSpec kFlatten = {.kind = LayerKind::kFlatten};

LayerSpec Dense(int units) {
  return {.kind = LayerKind::kDense, .units = units};
}

LayerSpec Conv(int filters, int kernel) {
  return {.kind = LayerKind::kConv2D, .filters = filters, .kernel = kernel};
}

class ModelTest : public ::testing::Test {
 protected:
  std::unique_ptr<Model> Build(std::string_view preset) {
    const ModelSpec spec = PresetJob(preset).value().model;
    const uint32_t side = preset == "tiny" ? 7 : 28;
    return Model::Build(spec, {.height = side, .width = side}, 10, *kernels_)
        .value();
  }
  std::vector<float> Initialized(const Model& model, uint64_t key) {
    std::vector<float> parameters(model.parameter_count(), 5.0f);
    model.Initialize(key, parameters);
    return parameters;
  }

  std::unique_ptr<Kernels> kernels_ = MakeKernels(Isa::kAuto, 1);
};

TEST_F(ModelTest, ParametersCoverTheFlatArrayInOrder) {
  for (const PresetInfo& preset : AllPresets()) {
    const auto model = Build(preset.name);
    size_t next = 0;
    for (const ParameterInfo& info : model->parameters()) {
      EXPECT_EQ(info.offset, next) << info.name;
      uint64_t elements = 1;
      for (const uint64_t size : info.shape) elements *= size;
      EXPECT_EQ(info.size, elements) << info.name;
      next += info.size;
    }
    EXPECT_EQ(next, model->parameter_count()) << preset.name;
  }
}

TEST_F(ModelTest, NamesCountTheDenseLayers) {
  const auto model = Build("dnn");
  std::vector<std::string> names;
  for (const ParameterInfo& info : model->parameters()) {
    names.push_back(info.name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("dense0/kernel", "dense0/bias",
                                            "dense1/kernel", "dense1/bias",
                                            "dense2/kernel", "dense2/bias"));
}

TEST_F(ModelTest, ConvolutionsParametersAreItsKernelAndItsBiases) {
  const auto model = Build("cnn");
  const auto parameters = model->parameters();
  EXPECT_EQ(parameters[0].name, "conv0/kernel");
  EXPECT_THAT(parameters[0].shape, ::testing::ElementsAre(3, 3, 1, 32));
  EXPECT_EQ(parameters[1].name, "conv0/bias");
  EXPECT_THAT(parameters[1].shape, ::testing::ElementsAre(32));
  EXPECT_EQ(parameters[2].name, "dense0/kernel");
  EXPECT_THAT(parameters[2].shape, ::testing::ElementsAre(26 * 26 * 32, 128));
}

class NameCollector final : public StepProbe {
 public:
  bool Begin(uint64_t, Phase, const std::vector<TensorView>&) override {
    return true;
  }
  void Saw(const OperationOutput& output, std::span<float> values) override {
    uint64_t elements = 1;
    for (const uint64_t size : output.shape) elements *= size;
    EXPECT_EQ(values.size(), elements) << output.name;
    EXPECT_EQ(output.replica, 3) << output.name;
    names.push_back(output.name);
  }
  void End(const std::vector<TensorView>&) override {}
  std::vector<std::string> names;
};

TEST_F(ModelTest, FirstConvolutionRunsOverTheChannelsOfASample) {
  const ModelSpec spec = {.layers = {Conv(2, 3), kFlatten, Dense(10)}};
  const SampleShape sample = {.height = 5, .width = 4, .channels = 3};
  const auto model = Model::Build(spec, sample, 10, *kernels_).value();
  EXPECT_EQ(model->parameters()[0].shape, (std::vector<uint64_t>{3, 3, 3, 2}));
  EXPECT_EQ(model->parameters()[2].shape,
            (std::vector<uint64_t>{3 * 2 * 2, 10}));
}

// Gradients that are reported as final may be changed from then on.
TEST_F(ModelTest, ReportsFinalGradientsFromTheLastLayerOn) {
  const auto model = Build("cnn");
  const std::vector<float> parameters = Initialized(*model, 1);
  const std::vector<float> features(2 * 784, 0.5f);
  const std::vector<uint8_t> labels = {1, 2};
  ReplicaBatch batch = {.features = features, .labels = labels};
  std::vector<float> expected(model->parameter_count());
  model->Gradients(parameters, batch, expected);

  std::vector<float> gradients(model->parameter_count(), 5.0f);
  std::vector<size_t> offsets;
  batch.final_from = [&](size_t offset) {
    offsets.push_back(offset);
    const auto begin = static_cast<ptrdiff_t>(offset);
    const auto final_values = std::span(gradients).subspan(offset);
    if (offsets.size() == 1) {
      EXPECT_TRUE(std::equal(final_values.begin(), final_values.end(),
                             expected.begin() + begin));
    }
    std::ranges::fill(final_values, 7.0f);
  };
  model->Gradients(parameters, batch, gradients);
  const auto infos = model->parameters();
  EXPECT_THAT(offsets,
              ::testing::ElementsAre(infos[4].offset, infos[2].offset));
  EXPECT_EQ(model->first_layer_size(), infos[2].offset);
  EXPECT_TRUE(std::equal(
      gradients.begin(),
      gradients.begin() + static_cast<ptrdiff_t>(model->first_layer_size()),
      expected.begin()));
}

TEST_F(ModelTest, ProbeSeesEachOperationInTheOrderOfAStep) {
  const auto model = Build("tiny");
  const std::vector<float> features(2 * 49, 0.5f);
  const std::vector<uint8_t> labels = {1, 2};
  std::vector<float> gradients(model->parameter_count());
  NameCollector probe;
  model->Gradients(
      Initialized(*model, 1),
      {.features = features, .labels = labels, .probe = &probe, .replica = 3},
      gradients);
  EXPECT_THAT(
      probe.names,
      ::testing::ElementsAre(
          "forward of dense0", "forward of relu2", "forward of dropout3",
          "forward of dense1", "loss", "gradient of the loss",
          "gradient of dense1/kernel", "gradient of dense1/bias",
          "backward of dense1", "backward of dropout3", "backward of relu2",
          "gradient of dense0/kernel", "gradient of dense0/bias"));
}

TEST_F(ModelTest, TinyIsSmall) {
  EXPECT_EQ(Build("tiny")->parameter_count(), 49u * 32 + 32 + 32 * 10 + 10);
}

TEST_F(ModelTest, InitialKernelsFillTheGlorotIntervalAndBiasesAreZero) {
  const auto model = Build("mlp");
  const auto parameters = Initialized(*model, 1);
  for (const ParameterInfo& info : model->parameters()) {
    const auto [low, high] = std::ranges::minmax(
        std::span(parameters).subspan(info.offset, info.size));
    const float limit =
        info.shape.size() == 1
            ? 0.0f
            : std::sqrt(6.0f /
                        static_cast<float>(info.shape[0] + info.shape[1]));
    // Among thousands of uniform numbers, some are within 1 % of each end.
    EXPECT_LE(high, limit) << info.name;
    EXPECT_GE(high, limit * 0.99f) << info.name;
    EXPECT_GE(low, -limit) << info.name;
    EXPECT_LE(low, -limit * 0.99f) << info.name;
  }
}

// The fan of a kernel includes the pixels that the kernel covers.
TEST_F(ModelTest, InitialConvolutionsFillTheirGlorotInterval) {
  const ModelSpec spec = {
      .layers = {{.kind = LayerKind::kConv2D, .filters = 200, .kernel = 4},
                 kFlatten,
                 Dense(10)}};
  const auto model =
      Model::Build(spec, {.height = 5, .width = 5}, 10, *kernels_).value();
  const auto parameters = Initialized(*model, 1);
  const auto kernel = std::span(parameters).first(4 * 4 * 200);
  const auto [low, high] = std::ranges::minmax(kernel);
  const float limit = std::sqrt(6.0f / (16 + 16 * 200));
  EXPECT_LE(high, limit);
  EXPECT_GE(high, limit * 0.99f);
  EXPECT_GE(low, -limit);
  for (const float bias : std::span(parameters).subspan(kernel.size(), 200)) {
    EXPECT_EQ(bias, 0.0f);
  }
}

TEST_F(ModelTest, InitialValuesAreKeyedByKeyAndLayer) {
  const auto model = Model::Build({.layers = {kFlatten, Dense(10), Dense(10)}},
                                  {.height = 5, .width = 2}, 10, *kernels_)
                         .value();
  const auto parameters = Initialized(*model, 1);
  EXPECT_EQ(parameters, Initialized(*model, 1));
  EXPECT_NE(parameters, Initialized(*model, 2));
  const auto kernel0 = std::span(parameters).first(100);
  const auto kernel1 = std::span(parameters).subspan(110, 100);
  EXPECT_FALSE(std::ranges::equal(kernel0, kernel1));
}

TEST_F(ModelTest, NoRowsGivePositiveZeroGradientsAndNoLoss) {
  const auto model = Build("tiny");
  const auto parameters = Initialized(*model, 1);
  std::vector<float> gradients(parameters.size(), -3.0f);
  const ReplicaResult result = model->Gradients(parameters, {}, gradients);
  EXPECT_EQ(result.loss, 0.0f);
  EXPECT_EQ(result.correct, 0);
  for (const float gradient : gradients) {
    EXPECT_TRUE(gradient == 0.0f && !std::signbit(gradient));
  }
  EXPECT_EQ(model->Evaluate(parameters, {}).correct, 0);
}

TEST_F(ModelTest, SmallerBatchDoesNotSeeTheRestOfALargerOne) {
  const auto model = Build("tiny");
  const auto parameters = Initialized(*model, 1);
  const std::vector<float> features(100 * 49, 0.5f);
  const std::vector<uint8_t> labels(100, 3);
  const ReplicaBatch large{.features = features, .labels = labels};
  const ReplicaBatch small{.features = std::span(features).first(2 * 49),
                           .labels = std::span(labels).first(2)};
  std::vector<float> before(parameters.size());
  std::vector<float> after(parameters.size());
  const float loss = model->Gradients(parameters, small, before).loss;
  model->Gradients(parameters, large, after);
  model->Evaluate(parameters, large);
  EXPECT_EQ(model->Gradients(parameters, small, after).loss, loss);
  EXPECT_EQ(before, after);
}

TEST_F(ModelTest, GatheredSamplesAreTheSameBatch) {
  const auto model = Build("tiny");
  const auto parameters = Initialized(*model, 1);
  Dataset data{.samples = 3, .height = 7, .width = 7, .labels = {3, 4, 5}};
  for (size_t i = 0; i < 3 * 49; ++i) {
    data.features.push_back(static_cast<float>(i % 11) / 11);
  }
  std::vector<float> features(data.features.begin() + 2 * 49,
                              data.features.end());
  features.insert(features.end(), data.features.begin(),
                  data.features.begin() + 49);
  const std::vector<uint8_t> labels = {5, 3};
  GatheredSamples samples(data);
  samples.Add(2);
  samples.Add(0);
  const ReplicaBatch given{.features = features, .labels = labels};
  const ReplicaBatch chosen{.samples = &samples};
  std::vector<float> of_given(parameters.size());
  std::vector<float> of_chosen(parameters.size());
  EXPECT_EQ(model->Gradients(parameters, chosen, of_chosen).loss,
            model->Gradients(parameters, given, of_given).loss);
  EXPECT_EQ(of_chosen, of_given);
  EXPECT_EQ(model->Evaluate(parameters, chosen).loss,
            model->Evaluate(parameters, given).loss);
}

TEST_F(ModelTest, EvaluationDoesNotDropOut) {
  const auto model = Build("tiny");
  const auto parameters = Initialized(*model, 1);
  const std::vector<float> features(49, 0.5f);
  const std::vector<uint8_t> labels(1, 3);
  ReplicaBatch batch{.features = features, .labels = labels};
  const float loss = model->Evaluate(parameters, batch).loss;
  batch.step = 1;
  batch.rng_key = 77;
  EXPECT_EQ(model->Evaluate(parameters, batch).loss, loss);
  std::vector<float> gradients(parameters.size());
  EXPECT_NE(model->Gradients(parameters, batch, gradients).loss, loss);
}

TEST_F(ModelTest, MasksOfARowBelongToItsPlaceInTheGlobalBatch) {
  const auto model = Build("tiny");
  const auto parameters = Initialized(*model, 1);
  const std::vector<float> features(2 * 49, 0.5f);
  const std::vector<uint8_t> labels(2, 3);
  std::vector<float> gradients(parameters.size());
  // Runs one row after the other, as two replicas do, and then both at once.
  ReplicaBatch one{.features = std::span(features).first(49),
                   .labels = std::span(labels).first(1)};
  const float first = model->Gradients(parameters, one, gradients).loss;
  one.first_global_row = 1;
  const float second = model->Gradients(parameters, one, gradients).loss;
  EXPECT_NE(first, second);
  const ReplicaBatch both{.features = features, .labels = labels};
  EXPECT_EQ(model->Gradients(parameters, both, gradients).loss, first + second);
}

TEST_F(ModelTest, TieCountsForTheLowestClass) {
  const auto model = Build("tiny");
  const std::vector<float> zeros(model->parameter_count());
  const std::vector<float> features(3 * 49, 0.5f);
  const std::vector<uint8_t> labels = {0, 1, 0};
  const ReplicaBatch batch{.features = features, .labels = labels};
  EXPECT_EQ(model->Evaluate(zeros, batch).correct, 2);
}

struct BadModel {
  ModelSpec spec;
  uint32_t side;
  std::string message;
};

TEST_F(ModelTest, ModelThatDoesNotFitTheDataIsRefused) {
  const BadModel kBad[] = {
      {{.layers = {kFlatten, Dense(9)}},
       7,
       "model.layers: expected 10 outputs, one for each class of the data, "
       "found 9"},
      {{.layers = {kFlatten}},
       7,
       "model.layers: expected a dense layer, found none"},
      {{.layers = {kFlatten, Dense(0)}},
       7,
       "model.layers[1]: expected at least one unit and at most 4294967295 "
       "parameters in all, found 0 units on 49 inputs"},
      {{.layers = {kFlatten, Dense(65536), Dense(65536), Dense(10)}},
       28,
       "model.layers[2]: expected at least one unit and at most 4294967295 "
       "parameters in all, found 65536 units on 65536 inputs"},
      {{.layers = {Conv(3, 8), kFlatten, Dense(10)}},
       7,
       "model.layers[0]: expected a kernel of 1 to 7 pixels a side on inputs "
       "of 7 x 7, found 8"},
      {{.layers = {Conv(3, 5), Conv(3, 4), kFlatten, Dense(10)}},
       7,
       "model.layers[1]: expected a kernel of 1 to 3 pixels a side on inputs "
       "of 3 x 3, found 4"},
      {{.layers = {Conv(1 << 29, 3), kFlatten, Dense(10)}},
       7,
       "model.layers[0]: expected at least one filter and at most 4294967295 "
       "parameters in all and outputs a sample, found 536870912 filters of 9 "
       "weights at 25 places"},
      {{.layers = {kFlatten, Dense(10)}},
       0,
       "data: expected 1 to 4294967295 features a sample, found 0 x 0 x 1"},
  };
  for (const BadModel& bad : kBad) {
    const auto model = Model::Build(
        bad.spec, {.height = bad.side, .width = bad.side}, 10, *kernels_);
    ASSERT_FALSE(model.ok()) << bad.message;
    EXPECT_EQ(model.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(model.status().message(), bad.message);
  }
}

TEST_F(ModelTest, NaNInput_MakesTheLossNaN) {
  const auto model = Build("tiny");
  const auto parameters = Initialized(*model, 1);
  const std::vector<float> features(49,
                                    std::numeric_limits<float>::quiet_NaN());
  const std::vector<uint8_t> labels(1, 3);
  std::vector<float> gradients(parameters.size());
  const ReplicaBatch batch{.features = features, .labels = labels};
  EXPECT_TRUE(std::isnan(model->Gradients(parameters, batch, gradients).loss));
}

using ModelDeathTest = ModelTest;

TEST_F(ModelDeathTest, BatchOfTheWrongShapeStopsTheProgram) {
  const auto model = Build("tiny");
  const auto parameters = Initialized(*model, 1);
  const std::vector<float> features(48);
  const std::vector<uint8_t> labels(1);
  EXPECT_DEATH(
      model->Evaluate(parameters, {.features = features, .labels = labels}),
      "expected 1 samples of 49 features, found 48 floats");
}

}  // namespace
}  // namespace gauntlet
