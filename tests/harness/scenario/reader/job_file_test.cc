#include "harness/scenario/reader/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kText[] = R"(schema: gauntlet/v2
preset: mlp
seed: 42
job: {epochs: 4, batch: 16, replicas: 4, steps_per_execution: 7}
cluster: {workers: 2, step_timeout: 9s, restart: {policy: rejoin, max: 7}}
preemption: {grace: 20s}
checkpoint: {every: {steps: 50}, keep: 3, on_success: leave}
)";

JobFile Parse(const std::string& text, const JobFileOverrides& overrides = {}) {
  const Result<JobFile> file = ParseJobFile(text, "j.yaml", overrides);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  return file.ok() ? *file : JobFile();
}

TEST(JobFileTest, ReadsTheSameAsAScenario) {
  const JobFile file = Parse(kText);
  EXPECT_EQ(file.train.job.model.layers[1].units, 512) << "mlp's";
  EXPECT_EQ(file.train.job.seed, 42u);
  EXPECT_EQ(file.train.job.batch, 16);
  EXPECT_EQ(file.train.steps_per_execution, 7u);
  EXPECT_EQ(file.train.cluster.step_timeout, std::chrono::seconds(9));
  EXPECT_EQ(file.train.cluster.on_loss, OnLoss::kRejoin);
  EXPECT_EQ(file.train.preemption.grace, std::chrono::seconds(20));
  EXPECT_EQ(file.train.checkpoint.trigger.every, 50u);
  EXPECT_EQ(file.train.checkpoint.at_success, AtSuccess::kLeaveCheckpoints);
  EXPECT_EQ(file.launcher.max_restarts, 7);
  EXPECT_EQ(file.workers, 2);
  EXPECT_EQ(file.replicas, 4);
  EXPECT_EQ(file.epochs, 4u);
  EXPECT_TRUE(file.has_checkpoint);
}

TEST(JobFileTest, MissingKeysKeepTheirDefaults) {
  const Result<JobFile> file = ParseJobFile("preset: dnn\n", "j", {});
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->launcher.max_restarts, LauncherOptions().max_restarts)
      << "no scenario's three";
  EXPECT_EQ(file->train.job.replicas, 1);
  EXPECT_EQ(file->train.horizon.epochs, 1u) << "no scenario's three";
  EXPECT_FALSE(file->workers || file->replicas || file->epochs);
  EXPECT_FALSE(file->has_checkpoint);
}

TEST(JobFileTest, FlagsOverrideTheFile) {
  const JobFile file =
      Parse(kText, {.preset = "dnn", .workers = 6, .replicas = 6});
  EXPECT_EQ(file.train.job.model.layers[1].units, 256) << "dnn's";
  EXPECT_EQ(file.workers, 6);
  EXPECT_EQ(file.train.job.replicas, 6);
  EXPECT_EQ(Parse("preset: tiny\n", {.workers = 3}).train.job.replicas, 3)
      << "where the file has no such map";
}

struct BadFile {
  std::string text;
  std::string error;
};

TEST(JobFileTest, MistakeIsOneLineWithItsPlace) {
  const std::vector<BadFile> bad = {
      {"", "j.yaml:1:1: expected one document, found 0"},
      {"a: 1\n---\nb: 2\n", "j.yaml:3:1: expected one document, found 2"},
      {"[]", "j.yaml:1:1: expected a map, found a list"},
      {"preset: tiny\npreset: mlp\n", "j.yaml:2:1: "},
      {"preset: tiyn\n",
       "j.yaml:1:9: unknown preset 'tiyn'; did you mean tiny?"},
      {"job: {layer: 1}\n",
       "j.yaml:1:7: unknown key 'layer' in 'job'; did you mean layers?"},
      {"job: [1]\n", "j.yaml:1:6: expected a map, found a list"},
      {"job: {batch: x}\n", "j.yaml:1:14: expected a whole number"},
      {"job: {replicas: 1}\ncluster: {workers: 2}\n",
       "j.yaml:1:17: 2 workers need at least as many replicas, found 1"},
      {"faults: []\n", "j.yaml:1:1: 'faults' is of scenarios, not of jobs"},
      {"warm_start: {}\n",
       "j.yaml:1:1: 'warm_start' is of scenarios, not of jobs"},
      {"seeed: 1\n", "j.yaml:1:1: unknown key 'seeed'"},
      {"cluster: {topology: one_host}\n",
       "j.yaml:1:21: 'cluster.topology' is of scenarios, not of jobs"},
      {"cluster: {workers: 2, workers_per_attempt: [1]}\n",
       "'cluster.workers_per_attempt' is of scenarios"},
      {"preemption: {requeue: 3}\n",
       "j.yaml:1:23: 'preemption.requeue' is of scenarios, not of jobs"},
      {"checkpoint: {every: often}\n", "j.yaml:1:21: expected {steps: n}"},
      {"preset: &a tiny\n", "j.yaml:1:"},
      {"preset: \"a\\0b\"\n", "j.yaml:1:9: "},
      {std::string(200'000, '['), "j.yaml:1:"},
      {"job: {epochs: 99999999999999999999}\n", "j.yaml:1:15: "}};
  for (const auto& [text, error] : bad) {
    const Result<JobFile> file = ParseJobFile(text, "j.yaml", {});
    ASSERT_FALSE(file.ok()) << text.substr(0, 80);
    EXPECT_EQ(file.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(file.status().message(), HasSubstr(error));
    EXPECT_THAT(file.status().message(), Not(HasSubstr("\n")));
  }
}

TEST(JobFileTest, RefusesAValueInPlaceOfAMap_EvenIfOverridden) {
  const Result<JobFile> file =
      ParseJobFile("cluster: 7\n", "j.yaml", {.workers = 2});
  EXPECT_THAT(file.status().message(),
              HasSubstr("j.yaml:1:10: expected a map, found '7'"));
}

}  // namespace
}  // namespace gauntlet
