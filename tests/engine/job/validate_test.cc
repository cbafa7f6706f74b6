#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "engine/job/job.h"

namespace gauntlet {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr LayerSpec kConv = {
    .kind = LayerKind::kConv2D, .filters = 3, .kernel = 3};

void PrependConv(JobSpec& job, int filters, int kernel) {
  LayerSpec conv = kConv;
  conv.filters = filters;
  conv.kernel = kernel;
  job.model.layers.insert(job.model.layers.begin(), conv);
}

struct BadJob {
  const char* what;
  std::function<void(JobSpec&)> spoil;
  const char* message;  // beginning of the message
};

const BadJob kBadJobs[] = {
    {"no layers", [](JobSpec& job) { job.model.layers.clear(); },
     "model.layers (how many): expected 1 to 64, found 0"},
    {"too many layers", [](JobSpec& job) { job.model.layers.resize(65); },
     "model.layers (how many): expected 1 to 64, found 65"},
    {"no flatten",
     [](JobSpec& job) { job.model.layers[0].kind = LayerKind::kRelu; },
     "model.layers[0].kind: expected flatten or conv2d as the first layer"},
    {"flatten later",
     [](JobSpec& job) { job.model.layers[2].kind = LayerKind::kFlatten; },
     "model.layers[2].kind: expected flatten only once"},
    {"conv2d after flatten",
     [](JobSpec& job) { job.model.layers[2].kind = LayerKind::kConv2D; },
     "model.layers[2].kind: expected conv2d only before flatten"},
    {"dense before flatten", [](JobSpec& job) { job.model.layers[0] = kConv; },
     "model.layers[1].kind: expected dense only after flatten"},
    {"no filters", [](JobSpec& job) { PrependConv(job, 0, 3); },
     "model.layers[0].filters: expected 1 to 4096, found 0"},
    {"absurd filters", [](JobSpec& job) { PrependConv(job, 1 << 30, 3); },
     "model.layers[0].filters: expected 1 to 4096, found 1073741824"},
    {"no kernel", [](JobSpec& job) { PrependConv(job, 3, 0); },
     "model.layers[0].kernel: expected 1 to 64, found 0"},
    {"absurd kernel", [](JobSpec& job) { PrependConv(job, 3, 65); },
     "model.layers[0].kernel: expected 1 to 64, found 65"},
    {"no dense at the end", [](JobSpec& job) { job.model.layers.pop_back(); },
     "model.layers[3].kind: expected dense as the last layer"},
    {"no units", [](JobSpec& job) { job.model.layers[1].units = 0; },
     "model.layers[1].units: expected 1 to 65536, found 0"},
    {"absurd units", [](JobSpec& job) { job.model.layers[1].units = 1 << 30; },
     "model.layers[1].units: expected 1 to 65536, found 1073741824"},
    {"rate 1", [](JobSpec& job) { job.model.layers[3].rate = 1.0f; },
     "model.layers[3].rate: expected a number of at least 0 and below 1, "
     "found 1"},
    {"rate NaN", [](JobSpec& job) { job.model.layers[3].rate = kNan; },
     "model.layers[3].rate: expected a number of at least 0 and below 1"},
    {"momentum of a moving mean 1",
     [](JobSpec& job) {
       job.model.layers[2] = {.kind = LayerKind::kCenter, .momentum = 1.0f};
     },
     "model.layers[2].momentum: expected a number of at least 0 and below 1"},
    {"no samples", [](JobSpec& job) { job.data.samples = 0; },
     "data.samples: expected 1 to 10000000, found 0"},
    {"absurd validation",
     [](JobSpec& job) { job.data.validation_samples = 10'000'001; },
     "data.validation_samples: expected 1 to 10000000, found 10000001"},
    {"side", [](JobSpec& job) { job.data.side = 14; },
     "data.side: expected 28 or 7, found 14"},
    {"no path", [](JobSpec& job) { job.data.kind = DataKind::kIdx; },
     "data.path: expected a directory, found nothing"},
    {"no path of cifar10",
     [](JobSpec& job) { job.data.kind = DataKind::kCifar10; },
     "data.path: expected a directory, found nothing"},
    {"one class",
     [](JobSpec& job) {
       job.data = {.kind = DataKind::kNpy, .path = "n", .classes = 1};
     },
     "data.classes: expected 2 to 256, found 1"},
    {"steps of an epoch", [](JobSpec& job) { job.data.steps_per_epoch = -1; },
     "data.steps_per_epoch: expected 0 to 10000000, found -1"},
    {"too many uses of samples",
     [](JobSpec& job) {
       job.replicas = 1024;
       job.data.samples = 1 << 22;
       job.data.shard = ShardPolicy::kOff;
     },
     "data.samples: expected fewer than 2^32 over all 1024 replicas with shard "
     "off, found 4294967296"},
    {"rate of learning 0",
     [](JobSpec& job) { job.optimizer.learning_rate = 0.0f; },
     "optimizer.learning_rate: expected a number above 0 and at most 1000, "
     "found 0"},
    {"rate of learning infinite",
     [](JobSpec& job) { job.optimizer.learning_rate = kInfinity; },
     "optimizer.learning_rate: expected a number above 0 and at most 1000, "
     "found inf"},
    {"beta1", [](JobSpec& job) { job.optimizer.beta1 = 1.0f; },
     "optimizer.beta1: expected a number of at least 0 and below 1, found 1"},
    {"beta2", [](JobSpec& job) { job.optimizer.beta2 = -0.5f; },
     "optimizer.beta2: expected a number of at least 0 and below 1, found "
     "-0.5"},
    {"epsilon", [](JobSpec& job) { job.optimizer.epsilon = 0.0f; },
     "optimizer.epsilon: expected a number above 0 and at most 1, found 0"},
    {"momentum",
     [](JobSpec& job) {
       job.optimizer = {.kind = OptimizerKind::kSgd, .momentum = 1.5f};
     },
     "optimizer.momentum: expected a number of at least 0 and below 1, found "
     "1.5"},
    {"no length of a decay",
     [](JobSpec& job) {
       job.optimizer.schedule = {.kind = ScheduleKind::kCosineDecay,
                                 .steps = 0};
     },
     "optimizer.schedule.steps: expected 1 to 9007199254740992, found 0"},
    {"a rate that grows",
     [](JobSpec& job) {
       job.optimizer.schedule = {.kind = ScheduleKind::kExponentialDecay,
                                 .rate = 1.5f};
     },
     "optimizer.schedule.rate: expected a number above 0 and at most 1"},
    {"alpha NaN",
     [](JobSpec& job) {
       job.optimizer.schedule = {.kind = ScheduleKind::kCosineDecay,
                                 .alpha = kNan};
     },
     "optimizer.schedule.alpha: expected a number of at least 0 and below 1"},
    {"absurd warm-up",
     [](JobSpec& job) { job.optimizer.schedule.warmup = ~uint64_t{0}; },
     "optimizer.schedule.warmup: expected 0 to 9007199254740992"},
    {"too few values",
     [](JobSpec& job) {
       job.optimizer.schedule = {.kind = ScheduleKind::kPiecewise,
                                 .boundaries = {1},
                                 .values = {1.0f}};
     },
     "optimizer.schedule.values (how many: one more than boundaries): expected "
     "2 to 2, found 1"},
    {"boundaries that go back",
     [](JobSpec& job) {
       job.optimizer.schedule = {.kind = ScheduleKind::kPiecewise,
                                 .boundaries = {5, 5},
                                 .values = {1.0f, 1.0f, 1.0f}};
     },
     "optimizer.schedule.boundaries[1]: expected more than 5, found 5"},
    {"a limit of 0",
     [](JobSpec& job) {
       job.optimizer.clip = {.kind = ClipKind::kNorm, .limit = 0.0f};
     },
     "optimizer.clip.limit: expected a number above 0"},
    {"accumulate 0", [](JobSpec& job) { job.accumulate = 0; },
     "accumulate: expected 1 to 65536, found 0"},
    {"no replicas", [](JobSpec& job) { job.replicas = 0; },
     "replicas: expected 1 to 4096, found 0"},
    {"absurd batch", [](JobSpec& job) { job.batch = 65537; },
     "batch: expected 1 to 65536, found 65537"},
    {"a batch that the data cannot fill",
     [](JobSpec& job) { job.replicas = 25; },
     "data.samples: expected at least one global batch (25 replicas of 16 "
     "samples = 400) with remainder drop, found 384"},
};

TEST(ValidateTest, RefusesUnusableValues_ByField) {
  for (const BadJob& bad : kBadJobs) {
    JobSpec job = PresetJob("tiny").value();
    bad.spoil(job);
    const Status status = Validate(job);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << bad.what;
    EXPECT_TRUE(status.message().starts_with(bad.message))
        << bad.what << ": " << status.message();
  }
}

TEST(ValidateTest, AcceptsAPartialBatch_IfItIsKept) {
  JobSpec job = PresetJob("tiny").value();
  job.replicas = 25;
  job.remainder = Remainder::kKeep;
  EXPECT_TRUE(Validate(job).ok());
}

}  // namespace
}  // namespace gauntlet
