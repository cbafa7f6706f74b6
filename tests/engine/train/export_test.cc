// The exported model: parameters and description, whole or not there.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/safetensors.h"
#include "engine/train/model_export.h"
#include "engine/train/predict.h"
#include "tests/engine/ckpt/test_world.h"
#include "tests/engine/train/training_fixture.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model as it is before any training.
struct Untrained {
  explicit Untrained(uint64_t seed = 1) {
    const JobSpec job = SmallRun().job;
    data = LoadData(no_files, job.data).value();
    json = JobToJson(job, data->content);
    kernels = Kernels::Create({}).value();
    model = Model::Build(job.model, 7, 7, 10, *kernels).value();
    parameters.resize(model->parameter_count());
    model->Initialize(seed, parameters);
  }
  TrainedModel View() const {
    return {.model = *model,
            .parameters = parameters,
            .data = data->train,
            .job_json = json,
            .step = seed_step};
  }

  MemoryStorage no_files;
  std::shared_ptr<const DataSplit> data;
  std::string json;
  std::unique_ptr<Kernels> kernels;
  std::unique_ptr<Model> model;
  std::vector<float> parameters;
  uint64_t seed_step = 24;
};

TEST(ExportTest, ATrainedRunLeavesItsParametersAndTheirDescription) {
  TrainOptions options = SmallRun();
  options.export_directory = "/models/digits/";
  TrainingFixture fixture;
  const LifeOutcome life = fixture.Run(2, options);
  ASSERT_TRUE(life.result) << life.reasons[0];
  const std::string bytes =
      ReadFile(fixture.disk(), "/models/digits/model.safetensors", 1 << 20)
          .value();
  std::vector<std::string> names;
  const auto tensors = ParseSafetensors(std::as_bytes(std::span(bytes)));
  for (const TensorView& view : tensors.value()) names.push_back(view.name);
  EXPECT_THAT(names, ElementsAre("dense0/bias", "dense0/kernel", "dense1/bias",
                                 "dense1/kernel"));
  const auto json = nlohmann::json::parse(
      ReadFile(fixture.disk(), "/models/digits/model.json", 1 << 20).value());
  EXPECT_EQ(json["trained"]["state_digest"], life.result->digest);
  EXPECT_EQ(json["trained"]["step"], kSteps);
  EXPECT_EQ(fixture.disk().List("/models").value().size(), 1u);
}

TEST(ExportTest, TheDescriptionHasEachLayerWithItsParameters) {
  const auto json =
      nlohmann::json::parse(DescribeModel(Untrained().View()).value());
  EXPECT_EQ(json["schema"], "gauntlet/model/v1");
  EXPECT_EQ(json["input"].dump(),
            R"({"channels":1,"divide_by":255,"height":7,"layout":"NHWC",)"
            R"("width":7})");
  const auto& layers = json["layers"];
  ASSERT_EQ(layers.size(), 5u);
  EXPECT_FALSE(layers[0].contains("parameters"));
  EXPECT_EQ(layers[1]["parameters"].dump(),
            R"([{"name":"dense0/kernel","shape":[49,8]},)"
            R"({"name":"dense0/bias","shape":[8]}])");
  EXPECT_EQ(layers[4]["units"], 10);
}

TEST(ExportTest, AStoppedRunExportsNothing) {
  TrainOptions options = SmallRun();
  options.export_directory = "/model";
  options.horizon.stop_at_step = 5;
  TrainingFixture fixture;
  EXPECT_TRUE(fixture.Run(2, options).result);
  EXPECT_EQ(fixture.disk().List("/model").status().code(), Code::kNotFound);
}

TEST(ExportTest, WhatIsNotAnExportIsRefusedBeforeTheTraining) {
  TrainOptions options = SmallRun();
  options.export_directory = "/model";
  TrainingFixture fixture;
  ASSERT_TRUE(fixture.disk().MakeDirectory("/model").ok());
  ASSERT_TRUE(
      fixture.disk().Open("/model/thesis", OpenMode::kCreateExclusive).ok());
  const LifeOutcome life = fixture.Run(1, options);
  EXPECT_TRUE(life.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_EQ(life.reasons[0],
            "/model: expected nothing or an earlier export, found 'thesis'");
}

// Both files of the one state, of the other, or no such folder.
bool IsWhole(MemoryStorage& storage, const Untrained& old_one,
             const Untrained& new_one) {
  if (!storage.Exists("/model")) return true;
  const auto is = [&](const Untrained& one) {
    return storage.Exists("/model/model.json") &&
           storage.Exists("/model/model.safetensors") &&
           storage.Bytes("/model/model.json") ==
               DescribeModel(one.View()).value();
  };
  return is(old_one) || is(new_one);
}

TEST(ExportTest, WhateverFailsThereIsAWholeExportOrNone) {
  Untrained old_one;
  Untrained new_one(2);
  new_one.seed_step = 48;
  size_t refused = 0;
  for (int n = 0;; ++n) {
    MemoryStorage storage;
    TestWorld world(storage);
    ASSERT_TRUE(ExportModel(world.world, "/model", old_one.View()).ok());
    int left = n;
    storage.gate = [&left](Operation, const std::string& path) {
      return left-- == 0 ? IoError(path) : OkStatus();
    };
    const bool done = ExportModel(world.world, "/model", new_one.View()).ok();
    storage.gate = nullptr;
    EXPECT_TRUE(IsWhole(storage, old_one, new_one)) << n;
    if (done && left >= 0) break;
    if (!done) ++refused;
    EXPECT_TRUE(ExportModel(world.world, "/model", new_one.View()).ok()) << n;
    EXPECT_EQ(storage.Bytes("/model/model.json"),
              DescribeModel(new_one.View()).value());
    EXPECT_FALSE(storage.Exists("/model.tmp")) << n;
    EXPECT_FALSE(storage.Exists("/model.old")) << n;
  }
  EXPECT_GT(refused, 10u);
}

TEST(PredictTest, ClassesAreThoseThatAnEvaluationCounts) {
  Untrained one;
  const Dataset& rows = one.data->validation;
  const std::vector<uint8_t> classes =
      PredictClasses(*one.model, one.parameters, rows);
  ASSERT_EQ(classes.size(), rows.rows);
  int64_t right = 0;
  for (size_t row = 0; row < classes.size(); ++row) {
    if (classes[row] == rows.labels[row]) ++right;
  }
  EXPECT_EQ(right, one.model
                       ->Evaluate(one.parameters, {.features = rows.features,
                                                   .labels = rows.labels})
                       .correct);
  EXPECT_EQ(one.model
                ->Evaluate(one.parameters,
                           {.features = rows.features, .labels = classes})
                .correct,
            rows.rows);
}

}  // namespace
}  // namespace gauntlet
