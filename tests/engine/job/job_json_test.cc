#include <bit>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/digest.h"
#include "engine/job/job.h"
#include "engine/job/layer_kinds.h"
#include "engine/numerics.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

const Digest kContent{.high = 1, .low = 2};

std::string TinyJson() {
  return JobToJson(PresetJob("tiny").value(), kContent);
}

// Returns the text with the first occurrence of `from` replaced.
std::string With(std::string text, const std::string& from,
                 const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(JobJsonTest, IsOneCanonicalLine) {
  EXPECT_EQ(
      TinyJson(),
      R"({"model":{"layers":[{"kind":"flatten"},{"kind":"dense","units":32},)"
      R"({"kind":"relu"},{"kind":"dropout","rate":0.2},)"
      R"({"kind":"dense","units":10}],"loss":"softmax_cross_entropy"},)"
      R"("data":{"kind":"digits","samples":384,"validation_samples":128,)"
      R"("side":7,"digest":"00000000000000010000000000000002"},)"
      R"("optimizer":{"kind":"adam","learning_rate":0.01,"beta1":0.9,)"
      R"("beta2":0.999,"epsilon":1e-07},"replicas":1,"batch":16,"seed":1,)"
      R"("remainder":"drop"})");
}

TEST(JobJsonTest, EveryPresetComesBack) {
  for (const PresetInfo& preset : AllPresets()) {
    const std::string json =
        JobToJson(PresetJob(preset.name).value(), kContent);
    const Result<JobSpec> back = JobFromJson(json);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(JobToJson(*back, kContent), json);
  }
}

TEST(JobJsonTest, ConvolutionIsWrittenWithItsFiltersAndItsKernel) {
  const std::string json = JobToJson(PresetJob("cnn").value(), kContent);
  const std::string conv = R"({"kind":"conv2d","filters":32,"kernel":3},)";
  EXPECT_NE(json.find(conv), std::string::npos) << json;
  const auto refused = JobFromJson(With(json, R"(,"kernel":3)", ""));
  EXPECT_EQ(refused.status().message(), "job: model.layers[0].kernel: missing");
}

TEST(JobJsonTest, EveryKindOfLayerComesBack) {
  JobSpec job = PresetJob("tiny").value();
  job.model.layers = {{.kind = LayerKind::kConv2D, .filters = 4, .kernel = 3},
                      {.kind = LayerKind::kRelu},
                      {.kind = LayerKind::kGelu},
                      {.kind = LayerKind::kCenter, .momentum = 0.75f},
                      {.kind = LayerKind::kFlatten},
                      {.kind = LayerKind::kDropout, .rate = 0.1f},
                      {.kind = LayerKind::kDense, .units = 10}};
  ASSERT_EQ(job.model.layers.size(), AllLayerKinds().size());
  const std::string json = JobToJson(job, kContent);
  EXPECT_NE(
      json.find(R"([{"kind":"conv2d","filters":4,"kernel":3},{"kind":"relu"},)"
                R"({"kind":"gelu"},{"kind":"center","momentum":0.75},)"
                R"({"kind":"flatten"},{"kind":"dropout","rate":0.1},)"
                R"({"kind":"dense","units":10}])"),
      std::string::npos)
      << json;
  const Result<JobSpec> back = JobFromJson(json);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(JobToJson(*back, kContent), json);
}

// Returns a job that sets everything that the texts of older jobs lack.
JobSpec ScheduledJob(ScheduleSpec schedule) {
  JobSpec job = PresetJob("tiny").value();
  job.optimizer.schedule = std::move(schedule);
  job.optimizer.clip = {.kind = ClipKind::kGlobalNorm, .limit = 1.5f};
  job.accumulate = 4;
  return job;
}

TEST(JobJsonTest, SchedulesClippingAndAccumulationComeBack) {
  const ScheduleSpec kSchedules[] = {
      {.warmup = 3},
      {.kind = ScheduleKind::kExponentialDecay,
       .steps = 100,
       .rate = 0.96f,
       .staircase = true},
      {.kind = ScheduleKind::kCosineDecay, .steps = 50, .alpha = 0.1f},
      {.kind = ScheduleKind::kPiecewise,
       .boundaries = {3, 9},
       .values = {0.1f, 0.01f, 0.001f}}};
  const std::string kTexts[] = {
      R"({"kind":"constant","warmup":3})",
      R"({"kind":"exponential_decay","steps":100,"rate":0.96,)"
      R"("staircase":true,"warmup":0})",
      R"({"kind":"cosine_decay","steps":50,"alpha":0.1,"warmup":0})",
      R"({"kind":"piecewise","boundaries":[3,9],"values":[0.1,0.01,0.001],)"
      R"("warmup":0})"};
  for (size_t i = 0; i < std::size(kTexts); ++i) {
    const std::string json = JobToJson(ScheduledJob(kSchedules[i]), kContent);
    EXPECT_NE(json.find(R"("schedule":)" + kTexts[i] +
                        R"(,"clip":{"kind":"global_norm","limit":1.5}})"),
              std::string::npos)
        << json;
    EXPECT_TRUE(json.ends_with(R"("remainder":"drop","accumulate":4})"));
    const Result<JobSpec> back = JobFromJson(json);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(JobToJson(*back, kContent), json);
  }
}

TEST(JobJsonTest, AnotherStartIsAnotherJobAndComesBack) {
  JobSpec job = PresetJob("tiny").value();
  job.start = {.weights = kContent, .epoch = 3};
  const std::string json = JobToJson(job, kContent);
  EXPECT_TRUE(json.ends_with(
      R"("start":{"epoch":3,"weights":"00000000000000010000000000000002"}})"));
  const Result<JobSpec> back = JobFromJson(json);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->start.weights, kContent);
  EXPECT_EQ(back->start.epoch, 3u);
  EXPECT_NE(JobDigest(json), JobDigest(TinyJson()));
  const Result<JobSpec> spoilt =
      JobFromJson(With(json, R"("weights":"0000)", R"("weights":"xyz0)"));
  EXPECT_EQ(spoilt.status().message(),
            "job: start.weights: expected 32 lower-case hex digits");
}

TEST(JobJsonTest, RefusesASpoiltScheduleByItsPath) {
  const std::string cosine =
      JobToJson(ScheduledJob({.kind = ScheduleKind::kCosineDecay, .steps = 50}),
                kContent);
  const std::string pieces =
      JobToJson(ScheduledJob({.kind = ScheduleKind::kPiecewise,
                              .boundaries = {3},
                              .values = {0.1f, 0.01f}}),
                kContent);
  const std::pair<std::string, std::string> kBad[] = {
      {With(cosine, R"("steps":50)", R"("steps":-1)"),
       "job: optimizer.schedule.steps: expected an integer from 0 to 2^64 - 1, "
       "found -1"},
      {With(cosine, R"("alpha":0.0)", R"("beta":0)"),
       "job: optimizer.schedule.alpha: missing"},
      {With(cosine, "cosine_decay", "sine"),
       "job: optimizer.schedule.kind: expected one of constant "
       R"(exponential_decay cosine_decay piecewise, found "sine")"},
      {With(cosine, R"("clip":{)", R"("clip":7,"x":{)"),
       R"(job: "optimizer.x": unknown key)"},
      {With(cosine, R"("accumulate":4)", R"("accumulate":1)"),
       "job: accumulate: expected an integer from 2 to 2147483647, found 1"},
      {With(pieces, "[3]", "[3.5]"),
       "job: optimizer.schedule.boundaries: expected whole numbers"},
      {With(pieces, "[3]", "3"),
       "job: optimizer.schedule: expected lists of boundaries and values"},
      {With(pieces, "0.01]", "null]"),
       "job: optimizer.schedule.values[1].value: expected a float32 number, "
       "found null"},
  };
  for (const auto& [text, message] : kBad) {
    const Result<JobSpec> job = JobFromJson(text);
    ASSERT_FALSE(job.ok()) << text;
    EXPECT_EQ(job.status().message(), message);
  }
}

TEST(JobJsonTest, LayerWithReplicaStateRoundTrips) {
  JobSpec job = PresetJob("tiny").value();
  job.model.layers[2] = {.kind = LayerKind::kCenter, .momentum = 0.9f};
  const std::string json = JobToJson(job, kContent);
  EXPECT_NE(json.find(R"({"kind":"center","momentum":0.9})"),
            std::string::npos);
  EXPECT_EQ(JobToJson(JobFromJson(json).value(), kContent), json);
}

TEST(JobJsonTest, PathOfIdxDataRoundTrips) {
  JobSpec job = PresetJob("linear").value();
  job.data = {.kind = DataKind::kIdx, .path = "/data/\"m\"\\"};
  const Result<JobSpec> back = JobFromJson(JobToJson(job, kContent));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->data.kind, DataKind::kIdx);
  EXPECT_EQ(back->data.path, job.data.path);
}

TEST(JobJsonTest, FilesOfOtherProgramsRoundTrip) {
  JobSpec job = PresetJob("linear").value();
  job.data = {.kind = DataKind::kNpy, .path = "/n", .classes = 7};
  const std::string json = JobToJson(job, kContent);
  EXPECT_NE(json.find(R"("data":{"kind":"npy","path":"/n","classes":7,)"),
            std::string::npos)
      << json;
  EXPECT_EQ(JobFromJson(json)->data.classes, 7);
  job.data = {.kind = DataKind::kCifar10, .path = "/c"};
  EXPECT_EQ(JobFromJson(JobToJson(job, kContent))->data.kind,
            DataKind::kCifar10);
}

TEST(JobJsonTest, OmitsSamplingOptions_WhenTheyAreDefaults) {
  JobSpec job = PresetJob("tiny").value();
  const std::string as_ever = JobToJson(job, kContent);
  for (const char* key : {"shuffle", "shard", "steps"}) {
    EXPECT_EQ(as_ever.find(key), std::string::npos) << key;
  }
  job.data.shuffle = Shuffle::kOff;
  job.data.shard = ShardPolicy::kFile;
  job.data.steps_per_epoch = 3;
  job.data.validation_steps = 2;
  const std::string json = JobToJson(job, kContent);
  EXPECT_NE(json.find(R"("shuffle":"off","shard":"file","steps_per_epoch":3,)"
                      R"("validation_steps":2,"digest")"),
            std::string::npos)
      << json;
  const Result<JobSpec> back = JobFromJson(json);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(JobToJson(*back, kContent), json);
}

TEST(JobJsonTest, ContentsOfFilesArePartOfTheJob_TheirPathsAreNot) {
  JobSpec job = PresetJob("linear").value();
  for (const DataKind kind : {DataKind::kCifar10, DataKind::kNpy}) {
    job.data = {.kind = kind, .path = "/a"};
    const Digest digest = JobDigest(JobToJson(job, kContent));
    job.data.path = "/b";
    job.data.validation_path = "/c";
    const std::string moved = JobToJson(job, kContent);
    EXPECT_EQ(JobFromJson(moved)->data.validation_path, "/c");
    EXPECT_EQ(JobDigest(moved), digest);
    EXPECT_NE(JobDigest(JobToJson(job, DigestOf("other"))), digest);
  }
}

RC_GTEST_PROP(JobJsonTest, FloatsAndSeedsComeBackWithEqualBits,
              (uint32_t rate, uint32_t beta, uint64_t seed)) {
  JobSpec job = PresetJob("tiny").value();
  // Any positive finite float within the bounds, including denormals.
  job.optimizer.learning_rate = std::bit_cast<float>(rate % 0x447a0000 + 1);
  job.optimizer.beta1 = std::bit_cast<float>(beta % 0x3f800000);
  job.seed = seed;
  const Result<JobSpec> back = JobFromJson(JobToJson(job, kContent));
  RC_ASSERT(back.ok());
  RC_ASSERT(std::bit_cast<uint32_t>(back->optimizer.learning_rate) ==
            std::bit_cast<uint32_t>(job.optimizer.learning_rate));
  RC_ASSERT(std::bit_cast<uint32_t>(back->optimizer.beta1) ==
            std::bit_cast<uint32_t>(job.optimizer.beta1));
  RC_ASSERT(back->seed == seed);
}

TEST(JobJsonTest, OmitsFieldsUnusedByTheKind) {
  JobSpec job = PresetJob("linear").value();
  JobSpec other = job;
  other.optimizer.beta1 = 0.5f;
  other.data.path = "/unused";
  EXPECT_EQ(JobToJson(job, kContent), JobToJson(other, kContent));
}

struct BadText {
  std::string text;
  std::string message;
};

TEST(JobJsonTest, RefusesATextThatIsNotStrictlyAJob) {
  const std::string tiny = TinyJson();
  const BadText kBad[] = {
      {"", "job: expected JSON, found something else at byte 1"},
      {"{", "job: expected JSON, found something else at byte 2"},
      {"\xff\xfe", "job: expected JSON, found something else at byte 1"},
      {tiny + "x", "job: expected JSON, found something else at byte 435"},
      {"[]", "job: top level: expected an object, found []"},
      {"7", "job: top level: expected an object, found 7"},
      {"{}", "job: model: missing"},
      {With(tiny, R"("seed":1)", R"("seed":1,"seed":1)"),
       R"(job: key "seed" appears twice)"},
      {With(tiny, R"("seed":1)", R"("seed":1,"speed":2)"),
       R"(job: "speed": unknown key)"},
      {With(tiny, R"(,"seed":1)", ""), "job: seed: missing"},
      {With(tiny, R"("seed":1)", R"("seed":-1)"),
       "job: seed: expected an integer from 0 to 2^64 - 1, found -1"},
      {With(tiny, R"("seed":1)", R"("seed":18446744073709551616)"),
       "job: seed: expected an integer from 0 to 2^64 - 1, found "
       "1.8446744073709552e+19"},
      {With(tiny, R"("replicas":1)", R"("replicas":"1")"),
       R"(job: replicas: expected an integer from 1 to 2147483647, found "1")"},
      {With(tiny, R"("replicas":1)", R"("replicas":4294967297)"),
       "job: replicas: expected an integer from 1 to 2147483647, found "
       "4294967297"},
      {With(tiny, R"("replicas":1)", R"("replicas":5000)"),
       "job: replicas: expected 1 to 4096, found 5000"},
      {With(tiny, R"("units":32)", R"("units":3.5)"),
       "job: model.layers[1].units: expected an integer from 1 to 2147483647, "
       "found 3.5"},
      {With(tiny, R"("units":32)", R"("unit":32)"),
       "job: model.layers[1].units: missing"},
      {With(tiny, R"("kind":"relu")", R"("kind":"selu")"),
       "job: model.layers[2].kind: expected one of flatten dense relu gelu "
       "dropout conv2d center, "
       R"(found "selu")"},
      {With(tiny, R"("kind":"relu")", R"("kind":"relu","units":1)"),
       R"(job: "model.layers[2].units": unknown key)"},
      {With(tiny, R"("rate":0.2)", R"("rate":1e300)"),
       "job: model.layers[3].rate: expected a float32 number, found 1e+300"},
      {With(tiny, R"("rate":0.2)", R"("rate":1e999)"),
       "job: a number is too large for JSON"},
      {With(tiny, R"("rate":0.2)", R"("rate":null)"),
       "job: model.layers[3].rate: expected a float32 number, found null"},
      {With(tiny, R"("digest":"0000)", R"("digest":"000)"),
       "job: data.digest: expected 32 lower-case hex digits"},
      {std::string(100'000, '['), "job: nested more than 16 deep"},
      {std::string(100, '[') + std::string(100, ']'),
       "job: nested more than 16 deep"},
      {std::string(2'000'000, ' '),
       "job: expected at most 1048576 bytes of JSON, found 2000000"},
  };
  for (const BadText& bad : kBad) {
    const Result<JobSpec> job = JobFromJson(bad.text);
    ASSERT_FALSE(job.ok()) << bad.text.substr(0, 500);
    EXPECT_EQ(job.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(job.status().message(), bad.message);
  }
}

TEST(JobJsonTest, NoPrefixOfAJobIsAJob) {
  const std::string tiny = TinyJson();
  for (size_t length = 0; length < tiny.size(); ++length) {
    EXPECT_FALSE(JobFromJson(tiny.substr(0, length)).ok()) << length;
  }
}

RC_GTEST_PROP(JobJsonTest, ChangedByteNeverCrashesAndNeverSpansLines,
              (uint16_t where, uint8_t byte)) {
  std::string text = TinyJson();
  text[where % text.size()] = static_cast<char>(byte);
  const Result<JobSpec> job = JobFromJson(text);
  RC_ASSERT(job.ok() || job.status().message().find('\n') == std::string::npos);
}

TEST(JobDigestTest, ChangesWithTheJobAndWithTheData) {
  JobSpec job = PresetJob("tiny").value();
  const Digest digest = JobDigest(JobToJson(job, kContent));
  EXPECT_EQ(digest, JobDigest(TinyJson()));
  EXPECT_NE(digest, JobDigest(JobToJson(job, Digest{.high = 1, .low = 3})));
  job.optimizer.learning_rate = 0.002f;
  EXPECT_NE(digest, JobDigest(JobToJson(job, kContent)));
}

TEST(JobDigestTest, DoesNotDependOnThePathOfTheData) {
  JobSpec job = PresetJob("linear").value();
  job.data = {.kind = DataKind::kIdx, .path = "/a"};
  const Digest digest = JobDigest(JobToJson(job, kContent));
  job.data.path = "/b";
  EXPECT_EQ(digest, JobDigest(JobToJson(job, kContent)));
}

TEST(JobDigestTest, TextThatIsNoJob_IsDigestedAsItIs) {
  for (const std::string text : {"not JSON", "\"path\": no job"}) {
    EXPECT_EQ(JobDigest(text), DigestOf(fmt::format("{}\nnumerics {}", text,
                                                    numerics::kVersion)));
  }
}

TEST(JobJsonTest, PartialCheckpointContentsArePartOfTheJob) {
  JobSpec job = PresetJob("tiny").value();
  const std::string all = JobToJson(job, kContent);
  EXPECT_EQ(all.find("saved"), all.npos);
  job.saved = {"dense0/bias", "dense0/kernel"};
  const std::string json = JobToJson(job, kContent);
  EXPECT_EQ(JobFromJson(json)->saved, job.saved);
  EXPECT_NE(JobDigest(json), JobDigest(all));
  EXPECT_EQ(DescribeJobDifference(json, all),
            "saved[0]: dense0/bias in the checkpoint, nothing now; "
            "saved[1]: dense0/kernel in the checkpoint, nothing now");
}

TEST(JobJsonTest, RefusesSavedNames_OutOfOrderOrNotPlain) {
  JobSpec job = PresetJob("tiny").value();
  job.saved = {"a", "b"};
  const std::string json = JobToJson(job, kContent);
  for (const std::string list :
       {R"([])", R"("a")", R"(["a",7])", R"(["b","a"])", R"(["a","a"])",
        R"(["a",""])", R"(["a","b c"])", R"(["a","\u0007"])", R"({"a":"b"})"}) {
    const Status refused =
        JobFromJson(With(json, R"(["a","b"])", list)).status();
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << list;
    EXPECT_NE(refused.message().find("saved"), std::string::npos) << list;
  }
}

}  // namespace
}  // namespace gauntlet
