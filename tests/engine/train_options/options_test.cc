#include "engine/train/options.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
// Comes after gtest.h, which this header needs but does not include.
#include <rapidcheck/gtest.h>

#include "engine/train/launcher_options.h"

namespace gauntlet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

rc::Gen<std::optional<uint64_t>> AnyOptional() {
  return rc::gen::map(rc::gen::arbitrary<std::pair<bool, uint64_t>>(),
                      [](const std::pair<bool, uint64_t>& draw) {
                        return draw.first ? std::optional(draw.second)
                                          : std::nullopt;
                      });
}

rc::Gen<Duration> AnyDuration() {
  return rc::gen::map(rc::gen::inRange<int64_t>(1, int64_t{1} << 62),
                      [](int64_t count) { return Duration(count); });
}

CheckpointOptions AnyCheckpoint() {
  return {.directory = *rc::gen::string<std::string>(),
          .trigger = {.unit = *rc::gen::element(
                          SaveUnit::kNone, SaveUnit::kSteps, SaveUnit::kSeconds,
                          SaveUnit::kEpochs),
                      .every = *rc::gen::inRange<uint64_t>(1, 1u << 31)},
          .mode = *rc::gen::element(SaveMode::kSync, SaveMode::kAsync,
                                    SaveMode::kZeroCopy),
          .shards = *rc::gen::inRange(0, 1 << 30),
          .keep = *rc::gen::inRange(1, 1 << 30),
          .keep_every_hours = *rc::gen::inRange<uint64_t>(0, kMaxKeepHours + 1),
          .at_success = *rc::gen::element(AtSuccess::kSaveFinalState,
                                          AtSuccess::kDeleteCheckpoints,
                                          AtSuccess::kLeaveCheckpoints),
          .allow_cold_start = *rc::gen::arbitrary<bool>(),
          .at_notice = *rc::gen::element(OnPreemption::kSaveAndExit,
                                         OnPreemption::kExit)};
}

TrainOptions AnyOptions() {
  TrainOptions options;
  const std::vector<PresetInfo> presets = AllPresets();
  const size_t preset = *rc::gen::inRange<size_t>(0, presets.size());
  options.job = PresetJob(presets[preset].name).value();
  options.job.seed = *rc::gen::arbitrary<uint64_t>();
  options.job.replicas = *rc::gen::inRange(1, 9);
  options.start.weights = *rc::gen::element("", "w", "models/\"m\"");
  if (!options.start.weights.empty()) {
    options.start.partial =
        *rc::gen::element(PartialWeights::kRefuse, PartialWeights::kAllow);
  }
  options.horizon = {.epochs = *rc::gen::arbitrary<uint64_t>(),
                     .max_steps = *AnyOptional(),
                     .stop_at_step = *AnyOptional()};
  options.checkpoint = AnyCheckpoint();
  if (*rc::gen::arbitrary<bool>()) {
    options.summary = {.directory = "d" + *rc::gen::string<std::string>(),
                       .every = *rc::gen::inRange<uint64_t>(1, 1u << 31)};
  }
  options.export_directory = *rc::gen::element("", "m", "models/\"m\"");
  options.on_not_finite =
      *rc::gen::element(OnNotFinite::kTrainOn, OnNotFinite::kStop);
  options.steps_per_execution = *rc::gen::inRange<uint64_t>(1, 1u << 31);
  options.cluster = {.heartbeat_every = *AnyDuration(),
                     .lost_after = *AnyDuration(),
                     .rendezvous_timeout = *AnyDuration(),
                     .step_timeout = *AnyDuration(),
                     .save_timeout = *AnyDuration(),
                     .collective = *rc::gen::element(CollectiveChoice::kAuto,
                                                     CollectiveChoice::kRing,
                                                     CollectiveChoice::kNccl)};
  options.preemption = {
      .grace = *AnyDuration() - Duration(1),
      .signal = *rc::gen::element<std::string>("", "SIGTERM", "SIGUSR1"),
      .file = *rc::gen::element<std::string>("", "/run/\"notice\""),
      .url = *rc::gen::element<std::string>("", "http://127.0.0.1:81/x?y"),
      .poll_every = *AnyDuration()};
  options.kernels = {
      .isa =
          *rc::gen::element(Isa::kAuto, Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
      .threads = *rc::gen::inRange(1, 257),
      .math = *rc::gen::element(Math::kCanonical, Math::kFast, Math::kFastTf32),
      .device = *rc::gen::element(DeviceKind::kCpu, DeviceKind::kCuda,
                                  DeviceKind::kEmulated)};
  if (*rc::gen::arbitrary<bool>()) {
    options.kernels.device_per_attempt = {
        DeviceKind::kCpu, DeviceKind::kEmulated, DeviceKind::kCpu};
  }
  options.digest_every = *rc::gen::arbitrary<uint64_t>();
  options.log_samples = *rc::gen::arbitrary<bool>();
  return options;
}

void ExpectEqual(const TrainOptions& a, const TrainOptions& b) {
  RC_ASSERT(JobToJson(a.job, Digest()) == JobToJson(b.job, Digest()));
  RC_ASSERT(a.start.weights == b.start.weights);
  RC_ASSERT(a.start.partial == b.start.partial);
  RC_ASSERT(a.horizon.epochs == b.horizon.epochs);
  RC_ASSERT(a.horizon.max_steps == b.horizon.max_steps);
  RC_ASSERT(a.horizon.stop_at_step == b.horizon.stop_at_step);
  // The text cannot represent paths that are not UTF-8.
  RC_ASSERT(a.summary.directory.empty() == b.summary.directory.empty());
  RC_ASSERT(a.summary.every == b.summary.every);
  RC_ASSERT(a.export_directory == b.export_directory);
  RC_ASSERT(a.on_not_finite == b.on_not_finite);
  RC_ASSERT(a.steps_per_execution == b.steps_per_execution);
  RC_ASSERT(a.checkpoint.trigger.unit == b.checkpoint.trigger.unit);
  RC_ASSERT(a.checkpoint.trigger.every == b.checkpoint.trigger.every);
  RC_ASSERT(a.checkpoint.mode == b.checkpoint.mode);
  RC_ASSERT(a.checkpoint.shards == b.checkpoint.shards);
  RC_ASSERT(a.checkpoint.keep == b.checkpoint.keep);
  RC_ASSERT(a.checkpoint.at_success == b.checkpoint.at_success);
  RC_ASSERT(a.checkpoint.allow_cold_start == b.checkpoint.allow_cold_start);
  RC_ASSERT(a.checkpoint.keep_every_hours == b.checkpoint.keep_every_hours);
  RC_ASSERT(a.checkpoint.at_notice == b.checkpoint.at_notice);
  RC_ASSERT(a.cluster.heartbeat_every == b.cluster.heartbeat_every);
  RC_ASSERT(a.cluster.lost_after == b.cluster.lost_after);
  RC_ASSERT(a.cluster.rendezvous_timeout == b.cluster.rendezvous_timeout);
  RC_ASSERT(a.cluster.step_timeout == b.cluster.step_timeout);
  RC_ASSERT(a.cluster.save_timeout == b.cluster.save_timeout);
  RC_ASSERT(a.cluster.collective == b.cluster.collective);
  RC_ASSERT(a.preemption.grace == b.preemption.grace);
  RC_ASSERT(a.preemption.signal == b.preemption.signal);
  RC_ASSERT(a.preemption.file == b.preemption.file);
  RC_ASSERT(a.preemption.url == b.preemption.url);
  RC_ASSERT(a.preemption.poll_every == b.preemption.poll_every);
  RC_ASSERT(a.kernels.isa == b.kernels.isa);
  RC_ASSERT(a.kernels.threads == b.kernels.threads);
  RC_ASSERT(a.kernels.math == b.kernels.math);
  RC_ASSERT(a.kernels.device == b.kernels.device);
  RC_ASSERT(a.kernels.device_per_attempt == b.kernels.device_per_attempt);
  RC_ASSERT(a.digest_every == b.digest_every);
  RC_ASSERT(a.log_samples == b.log_samples);
}

RC_GTEST_PROP(TrainOptionsProp, ReadsBackTheWrittenOptions, ()) {
  const TrainOptions options = AnyOptions();
  const std::string json = TrainOptionsToJson(options);
  const Result<TrainOptions> read = TrainOptionsFromJson(json);
  RC_ASSERT(read.ok());
  ExpectEqual(options, *read);
  RC_ASSERT(TrainOptionsToJson(*read) == json);
  RC_ASSERT(json.find('\n') == std::string::npos);
}

TrainOptions SomeOptions() {
  TrainOptions options;
  options.job = PresetJob("tiny").value();
  options.start.weights = "w";
  options.checkpoint.directory = "dir with \"quotes\" and ü";
  return options;
}

TEST(TrainOptionsTest, DirectoryKeepsItsName) {
  const TrainOptions options = SomeOptions();
  const Result<TrainOptions> read =
      TrainOptionsFromJson(TrainOptionsToJson(options));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->checkpoint.directory, options.checkpoint.directory);
}

struct Edit {
  std::string from;
  std::string to;
  std::string message;
};

TEST(TrainOptionsTest, Refusal_NamesTheKeyAndTheFoundValue) {
  const std::vector<Edit> edits = {
      {R"("threads":1)", R"("threads":0)",
       "options: kernels.threads: expected an integer from 1 to 256, found 0"},
      {R"("threads":1)", R"("threads":"1")", "kernels.threads"},
      {R"("signal":"")", R"("signal":"SIGKILL")",
       "options: preemption.signal: expected one of SIGTERM, SIGHUP, SIGQUIT, "
       "SIGUSR1, SIGUSR2, SIGXCPU, SIGPWR, found \"SIGKILL\""},
      {R"("url":"")", R"("url":"ftp://there/")",
       "options: preemption.url: URL \"ftp://there/\": expected"},
      {R"("poll_every_ns":1000000000)", R"("poll_every_ns":0)",
       "preemption.poll_every_ns: expected an integer from 1"},
      {R"("threads":1,)", "", "options: kernels.threads: missing"},
      {R"("threads":1)", R"("threads":1,"speed":9)", "unknown key"},
      {R"("threads":1)", R"("threads":1,"threads":1)", "appears twice"},
      {R"("isa":"auto")", R"("isa":"sse9")",
       "options: kernels.isa: expected one of auto scalar avx2 avx512, found "
       "\"sse9\""},
      {R"("keep":5)", R"("keep":-5)", "checkpoint.keep"},
      {R"("cold_start":"refuse")", R"("cold_start":true)",
       "checkpoint.cold_start"},
      {R"("epochs":1)", R"("epochs":-1)", "horizon.epochs"},
      {R"("max_steps":null)", R"("max_steps":"all")", "horizon.max_steps"},
      {R"("weights":"w")", R"("weights":"")",
       "options: start.weights: expected a path, found none"},
      {R"("weights":"w")", R"("weights":7)", "start.weights"},
      {R"("partial":"refuse")", R"("partial":"maybe")",
       "start.partial: expected one of allow refuse"},
      {R"(,"partial":"refuse")", "", "options: start.partial: missing"},
      {R"("max_steps":null,)", "", "options: horizon.max_steps: missing"},
      {R"("step_timeout_ns":30000000000)", R"("step_timeout_ns":1e99)",
       "cluster.step_timeout_ns"},
      {R"("replicas":1)", R"("replicas":0)", "options: job: replicas"},
      {R"("sample_ledger":"off")", R"("sample_ledger":[])", "sample_ledger"},
  };
  for (const auto& [from, to, message] : edits) {
    std::string json = TrainOptionsToJson(SomeOptions());
    ASSERT_NE(json.find(from), std::string::npos) << from << " in " << json;
    json.replace(json.find(from), from.size(), to);
    const Result<TrainOptions> read = TrainOptionsFromJson(json);
    ASSERT_FALSE(read.ok()) << to;
    EXPECT_EQ(read.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(read.status().message(), HasSubstr(message));
  }
}

TEST(TrainOptionsTest, AgreedSettings_CoverSavesStopsAndExchanges) {
  TrainOptions options = SomeOptions();
  options.horizon.max_steps = 30;
  options.checkpoint.mode = SaveMode::kZeroCopy;
  options.on_not_finite = OnNotFinite::kStop;
  std::string text;
  for (const auto& [name, value] : AgreedSettings(options)) {
    text.append(name).append(": ").append(value).append("\n");
  }
  EXPECT_EQ(text,
            "epochs: 1\nmax_steps: 30\nstop_at_step: none\n"
            "checkpoint.unit: epochs\ncheckpoint.every: 1\n"
            "checkpoint.on_success: keep\ncheckpoint.at_notice: save\n"
            "checkpoint.shards: 0\ncheckpoint.mode: zero-copy\n"
            "checkpoint.used: yes\non_loss: leave\ncollective: auto\n"
            "on_not_finite: stop\nsteps_per_execution: 1\n"
            "math: canonical\n");
}

TEST(TrainOptionsTest, WorkersLeaveNoVariablesOut) {
  TrainOptions options = SomeOptions();
  options.job.saved = {"dense0/kernel"};
  EXPECT_THAT(
      TrainOptionsFromJson(TrainOptionsToJson(options)).status().message(),
      HasSubstr("job.saved: expected an empty list"));
}

TEST(TrainOptionsTest, HostileTextIsRefusedInOneShortLine) {
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"),
        std::string("{}"), std::string(100'000'000, '['),
        std::string(50'000, '{'), std::string("\xff\0{", 3)}) {
    const Result<TrainOptions> read = TrainOptionsFromJson(text);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.status().message(), Not(HasSubstr("\n")));
    EXPECT_LT(read.status().message().size(), 200u);
  }
}

TEST(TrainOptionsTest, NoTruncationIsAccepted) {
  const std::string whole = TrainOptionsToJson(SomeOptions());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(TrainOptionsFromJson(whole.substr(0, size)).ok()) << size;
  }
}

LaunchOptions SomeLaunch() {
  return {.train = SomeOptions(),
          .launcher = {.workers = 4,
                       .min_workers = 2,
                       .workers_per_attempt = {4, 2, 3},
                       .restart = RestartPolicy::kRejoin,
                       .max_restarts = 7,
                       .max_restarts_without_progress = 3,
                       .backoff = Duration(5),
                       .max_backoff = Duration(6),
                       .survivors_grace = Duration(7),
                       .start_timeout = Duration(8),
                       .first_incarnation = 9}};
}

TEST(LaunchOptionsTest, ReadsBackTheWrittenOptions) {
  const std::string json = LaunchOptionsToJson(SomeLaunch());
  const Result<LaunchOptions> read = LaunchOptionsFromJson(json);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(LaunchOptionsToJson({.train = SomeOptions()}).find("per_attempt"),
            std::string::npos);
  const LauncherOptions expected = SomeLaunch().launcher;
  const LauncherOptions& launcher = read->launcher;
  EXPECT_EQ(launcher.workers, expected.workers);
  EXPECT_EQ(launcher.min_workers, expected.min_workers);
  EXPECT_EQ(launcher.workers_per_attempt, expected.workers_per_attempt);
  EXPECT_EQ(launcher.restart, expected.restart);
  EXPECT_EQ(launcher.max_restarts, expected.max_restarts);
  EXPECT_EQ(launcher.max_restarts_without_progress,
            expected.max_restarts_without_progress);
  EXPECT_EQ(launcher.backoff, expected.backoff);
  EXPECT_EQ(launcher.max_backoff, expected.max_backoff);
  EXPECT_EQ(launcher.survivors_grace, expected.survivors_grace);
  EXPECT_EQ(launcher.start_timeout, expected.start_timeout);
  EXPECT_EQ(launcher.first_incarnation, expected.first_incarnation);
}

TEST(LaunchOptionsTest, LauncherFollowsTheOptionsOfItsWorkers) {
  LaunchOptions options = SomeLaunch();
  options.train.preemption = {.grace = Duration(11), .file = "notice"};
  options.train.cluster.step_timeout = std::chrono::seconds(3);
  const LaunchOptions read =
      LaunchOptionsFromJson(LaunchOptionsToJson(options)).value();
  EXPECT_EQ(read.train.cluster.on_loss, OnLoss::kRejoin);
  EXPECT_EQ(read.launcher.rejoin_grace, std::chrono::seconds(3));
  EXPECT_EQ(read.launcher.stop_grace, std::chrono::seconds(30) + Duration(11));
  EXPECT_EQ(read.launcher.notices.file, "notice");
  EXPECT_EQ(read.launcher.checkpoint_directory,
            options.train.checkpoint.directory);
}

TEST(LaunchOptionsTest, RefusalNamesTheKey) {
  const std::vector<Edit> edits = {
      {R"("workers":4)", R"("workers":0)",
       "options: launcher.workers: expected an integer from 1"},
      {R"("min_workers":2)", R"("min_workers":5)",
       "launcher.min_workers: expected 0 to 4 workers, found 5"},
      {"[4,2,3]", "[4,1]",
       "launcher.workers_per_attempt: expected 2 to 4 workers, found 1"},
      {"[4,2,3]", "[5]", "expected 2 to 4 workers, found 5"},
      {"[4,2,3]", "[]", "launcher.workers_per_attempt: expected a list"},
      {"[4,2,3]", "[4,2.5]", "launcher.workers_per_attempt: expected a list"},
      {"[4,2,3]", "3", "launcher.workers_per_attempt: expected a list"},
      {R"("restart":"rejoin")", R"("restart":"never")",
       "launcher.restart: expected one of none whole-job rejoin"},
      {R"("keep":5)", R"("keep":-5)", "train.checkpoint.keep"},
      {R"("first_incarnation":9)", R"("first_incarnation":9,"x":1)",
       "unknown key"}};
  for (const auto& [from, to, message] : edits) {
    std::string json = LaunchOptionsToJson(SomeLaunch());
    ASSERT_NE(json.find(from), std::string::npos) << from << " in " << json;
    json.replace(json.find(from), from.size(), to);
    const Result<LaunchOptions> read = LaunchOptionsFromJson(json);
    ASSERT_FALSE(read.ok()) << to;
    EXPECT_THAT(read.status().message(), HasSubstr(message));
  }
}

}  // namespace
}  // namespace gauntlet
