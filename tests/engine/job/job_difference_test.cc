#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/job/job.h"

namespace gauntlet {
namespace {

std::string Json(const JobSpec& job) { return JobToJson(job, Digest{}); }

TEST(JobDifferenceTest, NamesEveryFieldThatDiffersByItsPath) {
  const JobSpec stored = PresetJob("tiny").value();
  JobSpec present = stored;
  present.optimizer.learning_rate = 0.002f;
  present.model.layers[1].units = 64;
  EXPECT_EQ(DescribeJobDifference(Json(stored), Json(present)),
            "model.layers[1].units: 32 in the checkpoint, 64 now; "
            "optimizer.learning_rate: 0.01 in the checkpoint, 0.002 now");
}

TEST(JobDifferenceTest, NamesFieldsOfOnlyOneSide) {
  const JobSpec stored = PresetJob("tiny").value();
  JobSpec present = stored;
  present.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.01f};
  EXPECT_EQ(DescribeJobDifference(Json(stored), Json(present)),
            "optimizer.beta1: 0.9 in the checkpoint, nothing now; "
            "optimizer.beta2: 0.999 in the checkpoint, nothing now; "
            "optimizer.epsilon: 1e-07 in the checkpoint, nothing now; "
            "optimizer.kind: adam in the checkpoint, sgd now; "
            "optimizer.momentum: nothing in the checkpoint, 0.0 now");
}

TEST(JobDifferenceTest, NamesScheduleClippingAndAccumulation) {
  const JobSpec stored = PresetJob("tiny").value();
  JobSpec present = stored;
  present.optimizer.schedule.warmup = 5;
  present.optimizer.clip = {.kind = ClipKind::kValue, .limit = 2.0f};
  present.accumulate = 3;
  EXPECT_EQ(DescribeJobDifference(Json(stored), Json(present)),
            "accumulate: nothing in the checkpoint, 3 now; "
            "optimizer.clip.kind: nothing in the checkpoint, value now; "
            "optimizer.clip.limit: nothing in the checkpoint, 2.0 now; "
            "optimizer.schedule.kind: nothing in the checkpoint, constant now; "
            "optimizer.schedule.warmup: nothing in the checkpoint, 5 now");
}

TEST(JobDifferenceTest, NamesTwoDozenAndCountsTheRest) {
  JobSpec stored = PresetJob("tiny").value();
  const LayerSpec layer = stored.model.layers[1];
  stored.model.layers.insert(stored.model.layers.begin() + 1, 29, layer);
  JobSpec present = stored;
  for (int i = 1; i <= 30; ++i) present.model.layers[i].units = 64;
  const std::string text = DescribeJobDifference(Json(stored), Json(present));
  EXPECT_EQ(std::ranges::count(text, ';'), 24) << text;
  EXPECT_THAT(text, testing::EndsWith("now; and 6 more"));
}

TEST(JobDifferenceTest, IsEmptyForEqualJobs_EvenIfTheDataMoved) {
  JobSpec stored = PresetJob("tiny").value();
  stored.data = {.kind = DataKind::kIdx, .path = "/a"};
  JobSpec present = stored;
  present.data.path = "/b";
  EXPECT_EQ(DescribeJobDifference(Json(stored), Json(present)), "");
}

JobSpec WithCallbacks(
    std::map<std::string, std::map<std::string, std::string>> callbacks) {
  JobSpec job = PresetJob("tiny").value();
  job.callbacks = std::move(callbacks);
  return job;
}

TEST(JobDifferenceTest, OptionsOfCallbacks_AreNamedByCallback) {
  const JobSpec stored = WithCallbacks(
      {{"a", {{"monitor", "loss"}}}, {"b", {}}, {"c", {{"size", "1"}}}});
  JobSpec present = WithCallbacks(
      {{"a", {{"monitor", "accuracy"}}}, {"c", {{"size", "1"}}}, {"d", {}}});
  present.seed = 9;
  EXPECT_EQ(DescribeJobDifference(Json(stored), Json(present)),
            "seed: 1 in the checkpoint, 9 now; "
            "callback a: monitor: loss in the checkpoint, accuracy now; "
            "callback b: in the checkpoint, none now; "
            "callback d: none in the checkpoint, one now");
  EXPECT_EQ(JobFromJson(Json(present))->callbacks, present.callbacks);
}

// Backups of earlier versions have no callbacks, as these versions did not
// record them.
TEST(JobDifferenceTest, OnlyAStoredJobWithoutCallbacks_LeavesThemUnknown) {
  const JobSpec none = WithCallbacks({});
  const JobSpec some = WithCallbacks({{"a", {{"monitor", "loss"}}}});
  JobSpec other = some;
  other.seed = 9;
  EXPECT_TRUE(DiffersOnlyInUnrecordedCallbacks(Json(none), Json(some)));
  EXPECT_FALSE(DiffersOnlyInUnrecordedCallbacks(Json(none), Json(other)));
  EXPECT_FALSE(DiffersOnlyInUnrecordedCallbacks(Json(some), Json(none)));
  EXPECT_FALSE(DiffersOnlyInUnrecordedCallbacks(Json(other), Json(some)));
  EXPECT_FALSE(DiffersOnlyInUnrecordedCallbacks("?", Json(some)));
}

TEST(JobDifferenceTest, NamesTheTextThatIsNotAJob) {
  const std::string json = Json(PresetJob("tiny").value());
  EXPECT_EQ(DescribeJobDifference("?", json),
            "in the checkpoint: job: expected JSON, found something else at "
            "byte 1");
  EXPECT_EQ(DescribeJobDifference(json, "?"),
            "now: job: expected JSON, found something else at byte 1");
}

}  // namespace
}  // namespace gauntlet
