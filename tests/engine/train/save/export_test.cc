// The exported model: parameters and description, complete or absent.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/format/safetensors.h"
#include "engine/train/loop/predict.h"
#include "engine/train/save/model_export.h"
#include "tests/engine/ckpt/test_world.h"
#include "tests/engine/train/training_fixture.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model before any training.
struct Untrained {
  explicit Untrained(JobSpec job = SmallRun().job) {
    data = LoadData(no_files, job.data).value();
    json = JobToJson(job, data->content);
    kernels = Kernels::Create({}).value();
    model = Model::Build(job.model, data->train.shape(), 10, *kernels).value();
    state.emplace(*model, *Optimizer::Build(job.optimizer, *kernels), job);
  }
  TrainedModel View() const {
    return {.model = *model,
            .state = *state,
            .data = data->train,
            .job_json = json};
  }

  MemoryStorage no_files;
  std::shared_ptr<const DataSplit> data;
  std::string json;
  std::unique_ptr<Kernels> kernels;
  std::unique_ptr<Model> model;
  std::optional<TrainState> state;
};

JobSpec WithSeed(uint64_t seed) {
  JobSpec job = SmallRun().job;
  job.seed = seed;
  return job;
}

// Returns a job with every kind of layer that has state.
JobSpec WithConvolution() {
  JobSpec job = SmallRun().job;
  job.model.layers = {{.kind = LayerKind::kConv2D, .filters = 3, .kernel = 2},
                      {.kind = LayerKind::kRelu},
                      {.kind = LayerKind::kFlatten},
                      {.kind = LayerKind::kDense, .units = 6},
                      {.kind = LayerKind::kCenter, .momentum = 0.5f},
                      {.kind = LayerKind::kDense, .units = 10}};
  return job;
}

TEST(ExportTest, TrainedRunLeavesItsParametersAndTheirDescription) {
  TrainOptions options = SmallRun();
  options.export_directory = "/models/digits/";
  TrainingFixture fixture;
  const AttemptResult incarnation = fixture.Run(2, options);
  ASSERT_TRUE(incarnation.result) << incarnation.reasons[0];
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
  EXPECT_EQ(json["trained"]["state_digest"], incarnation.result->digest);
  EXPECT_EQ(json["trained"]["step"], kSteps);
  EXPECT_EQ(fixture.disk().List("/models").value().size(), 1u);
}

TEST(ExportTest, WeightsNotMatchingTheDescription_AreRefused) {
  const Untrained one(WithConvolution());
  MemoryStorage storage;
  TestWorld world(storage);
  ASSERT_TRUE(ExportModel(world.world, "/model", one.View()).ok());
  std::string& bytes = storage.Bytes("/model/model.safetensors");
  const std::string& json = storage.Bytes("/model/model.json");
  const auto check = [&](std::string_view description) {
    return CheckExportedWeights(
        description, ParseSafetensors(std::as_bytes(std::span(bytes))).value());
  };
  EXPECT_TRUE(check(json).ok()) << check(json).message();
  EXPECT_EQ(json, DescribeModel(one.View()).value());
  bytes.back() ^= 1;
  EXPECT_EQ(check(json).code(), Code::kDataLoss);
  EXPECT_THAT(check(json).message(), HasSubstr("weights_digest: expected "));
  EXPECT_TRUE(check("{}").ok()) << "it says nothing of its weights";
  EXPECT_EQ(check("{").code(), Code::kDataLoss);
  EXPECT_EQ(check("").code(), Code::kDataLoss);
}

TEST(ExportTest, DescriptionHasEachLayerWithItsParameters) {
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

TEST(ExportTest, ConvolutionsAndCombinedMeansAreInIt) {
  Untrained one(WithConvolution());
  const auto layers =
      nlohmann::json::parse(DescribeModel(one.View()).value())["layers"];
  EXPECT_EQ(layers[0]["parameters"].dump(),
            R"([{"name":"conv0/kernel","shape":[2,2,1,3]},)"
            R"({"name":"conv0/bias","shape":[3]}])");
  EXPECT_EQ(layers[4]["parameters"].dump(),
            R"([{"name":"center0/moving_mean","shape":[6]}])");
  for (size_t i = 0; i < 24; ++i) {
    one.state->replica_state[i] = static_cast<float>(i / 6);  // 4 replicas
  }
  MemoryStorage storage;
  TestWorld world(storage);
  ASSERT_TRUE(ExportModel(world.world, "/model", one.View()).ok());
  const std::string bytes = storage.Bytes("/model/model.safetensors");
  const auto tensors = ParseSafetensors(std::as_bytes(std::span(bytes)));
  const auto mean =
      std::ranges::find(*tensors, "center0/moving_mean", &TensorView::name);
  ASSERT_NE(mean, tensors->end());
  const std::vector<float> expected(6, 1.5f);
  EXPECT_TRUE(
      std::ranges::equal(mean->bytes, std::as_bytes(std::span(expected))));
}

TEST(ExportTest, StoppedRunExportsNothing) {
  TrainOptions options = SmallRun();
  options.export_directory = "/model";
  options.horizon.stop_at_step = 5;
  TrainingFixture fixture;
  EXPECT_TRUE(fixture.Run(2, options).result);
  EXPECT_EQ(fixture.disk().List("/model").status().code(), Code::kNotFound);
}

// Retention would eventually remove such an export.
TEST(ExportTest, NoPlaceInACheckpointOrWithItsNameIsTaken) {
  Untrained one(WithConvolution());
  MemoryStorage storage;
  TestWorld world(storage);
  CheckpointStore store = OpenStore(world.world);
  ASSERT_TRUE(store.ClaimGeneration(std::string(kJob)).ok());
  ASSERT_TRUE(Save(store, 1, 1).ok());
  for (const char* const place :
       {"/store/step-000000001-g1/in", "/store/step-000000002-g1",
        "/store/gen-000009/"}) {
    EXPECT_EQ(ExportModel(world.world, place, one.View()).code(),
              Code::kInvalidArgument)
        << place;
  }
  EXPECT_TRUE(ExportModel(world.world, "/store/model", one.View()).ok());
}

TEST(ExportTest, RefusesADirectoryThatIsNoExportBeforeTraining) {
  TrainOptions options = SmallRun();
  options.export_directory = "/model";
  TrainingFixture fixture;
  ASSERT_TRUE(fixture.disk().MakeDirectory("/model").ok());
  ASSERT_TRUE(
      fixture.disk().Open("/model/thesis", OpenMode::kCreateExclusive).ok());
  const AttemptResult incarnation = fixture.Run(1, options);
  EXPECT_TRUE(incarnation.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_EQ(incarnation.reasons[0],
            "export: /model: expected nothing or an earlier export, "
            "found 'thesis'");
}

// Returns true iff the folder has both files of the same state, old or new, or
// does not exist.
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

TEST(ExportTest, LeavesACompleteExportOrNone_AfterAnyFailure) {
  Untrained old_one;
  Untrained new_one(WithSeed(2));
  size_t refused = 0;
  for (int n = 0;; ++n) {
    MemoryStorage storage;
    TestWorld world(storage);
    ASSERT_TRUE(ExportModel(world.world, "/model", old_one.View()).ok());
    int left = n;
    bool is_named = false;  // the new export's name is durable
    bool may_fail = false;
    storage.gate = [&](StorageCall operation, const std::string& path) {
      if (left-- == 0) {
        may_fail = is_named;
        return IoError(path);
      }
      is_named |= operation == StorageCall::kSync && path == "/" &&
                  storage.Exists("/model.old");
      return OkStatus();
    };
    const bool done = ExportModel(world.world, "/model", new_one.View()).ok();
    storage.gate = nullptr;
    EXPECT_EQ(done, left >= 0 || may_fail) << n;
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

TEST(ExportTest, ForeignFileNextToIt_IsNotRemoved) {
  MemoryStorage storage;
  TestWorld world(storage);
  for (const std::string folder : {"/model.tmp", "/model.old"}) {
    ASSERT_TRUE(storage.MakeDirectory(folder).ok());
    ASSERT_TRUE(
        storage.Open(folder + "/thesis", OpenMode::kCreateExclusive).ok());
    EXPECT_FALSE(ExportModel(world.world, "/model", Untrained().View()).ok());
    ASSERT_TRUE(storage.Exists(folder + "/thesis"));
    ASSERT_TRUE(storage.Remove(folder + "/thesis", FileKind::kFile).ok());
    ASSERT_TRUE(storage.Remove(folder, FileKind::kDirectory).ok());
  }
}

// A stale worker may still write its export when the next chief starts.
TEST(ExportTest, ExportThatIsBeingWritten_IsNotTouchedBeforeTraining) {
  MemoryStorage storage;
  const std::string weights = "/model.tmp/model.safetensors";
  ASSERT_TRUE(storage.MakeDirectory("/model.tmp").ok());
  ASSERT_TRUE(storage.Open(weights, OpenMode::kCreateExclusive).ok());
  EXPECT_TRUE(PrepareExport(storage, "/model").ok());
  EXPECT_TRUE(storage.Exists(weights));
  EXPECT_FALSE(storage.Exists("/model.try"));
}

// /proc refuses a new folder with ENOENT.
TEST(ExportTest, PlaceThatPermitsNoFolder_IsNamedAsGiven) {
  for (const Status& refusal :
       {Forbidden("/model.try"), NotFound("/model.try")}) {
    MemoryStorage storage;
    storage.gate = [&](StorageCall operation, const std::string& path) {
      const bool is_trial =
          operation == StorageCall::kCreate && path == "/model.try";
      return is_trial ? refusal : OkStatus();
    };
    const Status prepared = PrepareExport(storage, "/model");
    EXPECT_EQ(prepared.code(), Code::kInvalidArgument);
    EXPECT_EQ(prepared.message(),
              "/model: cannot be created: / permits no new folder; choose "
              "another place");
  }
}

TEST(ExportTest, EarlierExportIsKept_IfTheNewOneIsRemoved) {
  MemoryStorage storage;
  TestWorld world(storage);
  Untrained model;
  ASSERT_TRUE(ExportModel(world.world, "/model", model.View()).ok());
  storage.gate = [&](StorageCall, const std::string& path) {
    const bool is_renamed = path == "/model.tmp" && !storage.Exists("/model");
    return is_renamed ? NotFound(path) : OkStatus();
  };
  EXPECT_FALSE(ExportModel(world.world, "/model", model.View()).ok());
  EXPECT_TRUE(storage.Exists("/model/model.json"));
}

// A power loss leaves a complete export or none. The files of an export are
// durable before it gets its name, and the name before the export is reported.
TEST(ExportTest, SyncsFilesBeforeTheRename_AndTheNameAfterIt) {
  MemoryStorage storage;
  TestWorld world(storage);
  std::vector<std::pair<StorageCall, std::string>> log;
  storage.gate = [&](StorageCall operation, const std::string& path) {
    log.emplace_back(operation, path);
    return OkStatus();
  };
  Untrained model;
  ASSERT_TRUE(ExportModel(world.world, "/models/a", model.View()).ok());
  const auto at = [&](StorageCall operation, const std::string& path) {
    return std::ranges::find(log, std::pair(operation, path)) - log.begin();
  };
  const auto named = at(StorageCall::kChange, "/models/a.tmp");
  ASSERT_LT(named, std::ssize(log));
  EXPECT_LT(at(StorageCall::kSync, "/models/a.tmp/model.safetensors"),
            at(StorageCall::kSync, "/models/a.tmp"));
  EXPECT_LT(at(StorageCall::kSync, "/models/a.tmp/model.json"),
            at(StorageCall::kSync, "/models/a.tmp"));
  EXPECT_LT(at(StorageCall::kSync, "/models/a.tmp"), named);
  EXPECT_NE(std::find(log.begin() + named, log.end(),
                      std::pair(StorageCall::kSync, std::string("/models"))),
            log.end());
}

TEST(PredictTest, Classes_AgreeWithAnEvaluation) {
  Untrained one(WithConvolution());
  std::ranges::fill(one.state->replica_state, 0.25f);
  const std::vector<float> mean(6, 0.25f);
  const Dataset& data = one.data->validation;
  const std::vector<uint8_t> classes =
      PredictClasses(*one.model, *one.state, data);
  ASSERT_EQ(classes.size(), data.samples);
  EXPECT_EQ(one.model
                ->Evaluate(one.state->parameters, {.features = data.features,
                                                   .labels = classes,
                                                   .state = mean})
                .correct,
            data.samples);
}

}  // namespace
}  // namespace gauntlet
