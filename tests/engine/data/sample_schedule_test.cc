#include "engine/data/sample_schedule.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

JobSpec Job(ShardPolicy policy, Remainder remainder = Remainder::kDrop) {
  JobSpec job;
  job.replicas = 4;
  job.batch = 4;
  job.remainder = remainder;
  job.data.shard = policy;
  return job;
}

// All steps of an epoch: the sizes of the replicas' parts, and the number of
// uses of each sample.
struct Epoch {
  std::vector<uint64_t> positions;
  std::vector<std::vector<uint64_t>> counts;  // by step, then by replica
  std::map<uint32_t, int> uses;
  std::vector<std::set<uint32_t>> samples;  // by replica
};

Epoch Walk(const SampleSchedule& schedule, uint32_t replicas = 4) {
  Epoch epoch;
  epoch.samples.resize(replicas);
  uint64_t position = 0;
  while (position < schedule.samples_per_epoch()) {
    EXPECT_EQ(schedule.StepsLeft(position),
              schedule.steps_per_epoch() - epoch.positions.size());
    epoch.positions.push_back(position);
    std::vector<uint64_t>& counts = epoch.counts.emplace_back();
    uint64_t taken = 0;
    for (uint32_t replica = 0; replica < replicas; ++replica) {
      const auto [stream, range] = schedule.RangeOf(position, replica);
      counts.push_back(range.count);
      taken += range.count;
      for (uint64_t i = 0; i < range.count; ++i) {
        const uint32_t sample =
            schedule.SampleAt(stream, static_cast<uint32_t>(range.first + i));
        epoch.samples[replica].insert(sample);
        ++epoch.uses[schedule.UseOf(stream, sample)];
      }
    }
    EXPECT_EQ(taken, schedule.SamplesOfStep(position));
    position += taken;
  }
  EXPECT_EQ(epoch.counts.size(), schedule.steps_per_epoch());
  EXPECT_EQ(schedule.StepsLeft(position), 0u);
  EXPECT_EQ(epoch.uses.size(), schedule.samples_per_epoch());
  for (const auto& [use, times] : epoch.uses) EXPECT_EQ(times, 1) << use;
  return epoch;
}

TEST(SampleScheduleTest, SamplesAndStepsFollowTheRemainder) {
  struct Row {
    uint32_t samples;
    Remainder remainder;
    uint64_t used;
    uint64_t steps;
  };
  for (const Row& row :
       {Row{96, Remainder::kDrop, 96, 6}, Row{96, Remainder::kKeep, 96, 6},
        Row{97, Remainder::kDrop, 96, 6}, Row{97, Remainder::kKeep, 97, 7},
        Row{111, Remainder::kDrop, 96, 6}, Row{15, Remainder::kKeep, 15, 1}}) {
    const auto schedule = SampleSchedule::Make(
        Job(ShardPolicy::kData, row.remainder), {.samples = row.samples});
    ASSERT_TRUE(schedule.ok()) << schedule.status().ToString();
    EXPECT_EQ(schedule->samples_per_epoch(), row.used) << row.samples;
    EXPECT_EQ(schedule->steps_per_epoch(), row.steps) << row.samples;
    Walk(*schedule);
  }
}

TEST(SampleScheduleTest, DataWithoutAWholeStepAreRefused) {
  const auto message = [](const JobSpec& job, uint32_t samples) {
    return SampleSchedule::Make(job, {.samples = samples}).status().message();
  };
  EXPECT_EQ(message(Job(ShardPolicy::kData), 15),
            "the data has 15 samples, fewer than the 16 of a global batch");
  EXPECT_EQ(message(Job(ShardPolicy::kData, Remainder::kKeep), 0),
            "the data has 0 samples, fewer than the 16 of a global batch");
  EXPECT_EQ(message(Job(ShardPolicy::kOff), 3),
            "a replica has 3 samples of the data, fewer than the 4 of a batch");
}

TEST(SampleScheduleTest, OffGivesEveryReplicaEverything) {
  const auto schedule =
      SampleSchedule::Make(Job(ShardPolicy::kOff), {.samples = 10}).value();
  EXPECT_EQ(schedule.steps_per_epoch(), 2u);
  EXPECT_EQ(schedule.samples_per_epoch(), 32u);
  const Epoch epoch = Walk(schedule);
  for (const auto& samples : epoch.samples) EXPECT_EQ(samples.size(), 8u);
  const auto keep =
      SampleSchedule::Make(Job(ShardPolicy::kOff, Remainder::kKeep),
                           {.samples = 10})
          .value();
  EXPECT_EQ(keep.samples_per_epoch(), 40u);
  for (const auto& samples : Walk(keep).samples) EXPECT_EQ(samples.size(), 10u);
}

TEST(SampleScheduleTest, StreamsAreInOrdersOfTheirOwn) {
  const auto off =
      SampleSchedule::Make(Job(ShardPolicy::kOff), {.samples = 10}).value();
  EXPECT_EQ(off.OrderKey(7, 0), 7u);
  EXPECT_NE(off.OrderKey(7, 1), off.OrderKey(7, 2));
  EXPECT_NE(off.OrderKey(7, 1), off.OrderKey(8, 1));
}

TEST(SampleScheduleTest, FileDealsTheFilesOutInTurn) {
  const SourceSamples source = {.samples = 50,
                                .samples_of_files = {8, 9, 10, 11, 12}};
  const auto schedule =
      SampleSchedule::Make(Job(ShardPolicy::kFile), source).value();
  // Replica 0 has files 0 and 4, each other replica one file.
  EXPECT_EQ(schedule.SamplesOfStream(0), 20u);
  EXPECT_EQ(schedule.SamplesOfStream(3), 11u);
  EXPECT_EQ(schedule.SampleAt(0, 7), 7u);
  EXPECT_EQ(schedule.SampleAt(0, 8), 38u);
  EXPECT_EQ(schedule.SampleAt(1, 0), 8u);
  // Two batches of each replica, as replica 1 has no more.
  EXPECT_EQ(schedule.samples_per_epoch(), 32u);
  Walk(schedule);
}

TEST(SampleScheduleTest, KeepContinuesUntilTheLongestStreamIsUsedUp) {
  const SourceSamples source = {.samples = 50,
                                .samples_of_files = {8, 9, 10, 11, 12}};
  const auto schedule =
      SampleSchedule::Make(Job(ShardPolicy::kFile, Remainder::kKeep), source)
          .value();
  EXPECT_EQ(schedule.samples_per_epoch(), 50u);
  const Epoch epoch = Walk(schedule);
  EXPECT_EQ(epoch.positions, (std::vector<uint64_t>{0, 16, 32, 42, 46}));
  EXPECT_EQ(epoch.counts[2], (std::vector<uint64_t>{4, 1, 2, 3}));
  EXPECT_EQ(epoch.counts[4], (std::vector<uint64_t>{4, 0, 0, 0}));
}

TEST(SampleScheduleTest, FileWithFewerFilesThanReplicasIsAnError) {
  const Status status =
      SampleSchedule::Make(Job(ShardPolicy::kFile),
                           {.samples = 90, .samples_of_files = {30, 30, 30}})
          .status();
  EXPECT_EQ(status.ToString(),
            "INVALID_ARGUMENT: data.shard: expected a file for each of the 4 "
            "replicas, found 3");
}

TEST(SampleScheduleTest, AutoTakesFilesElseDataAndGivesTheReason) {
  const auto files = SampleSchedule::Make(
                         Job(ShardPolicy::kAuto),
                         {.samples = 40, .samples_of_files = {10, 10, 10, 10}})
                         .value();
  EXPECT_EQ(files.warning(), "");
  EXPECT_EQ(files.SampleAt(1, 0), 10u);
  const auto data =
      SampleSchedule::Make(Job(ShardPolicy::kAuto), {.samples = 40}).value();
  EXPECT_EQ(data.warning(),
            "shard policy auto takes data instead of file: data.shard: "
            "expected a file for each of the 4 replicas, found 1");
  EXPECT_EQ(data.samples_per_epoch(), 32u);
}

TEST(SampleScheduleTest, StepsPerEpochCutsTheEpochAndNeverStretchesIt) {
  JobSpec job = Job(ShardPolicy::kData, Remainder::kKeep);
  job.data.steps_per_epoch = 2;
  const auto schedule = SampleSchedule::Make(job, {.samples = 97}).value();
  EXPECT_EQ(schedule.samples_per_epoch(), 32u);
  EXPECT_EQ(schedule.steps_per_epoch(), 2u);
  Walk(schedule);
  job.data.shard = ShardPolicy::kOff;
  Walk(SampleSchedule::Make(job, {.samples = 97}).value());
  job.data.steps_per_epoch = 8;
  job.data.shard = ShardPolicy::kData;
  EXPECT_EQ(SampleSchedule::Make(job, {.samples = 97}).status().message(),
            "data.steps_per_epoch: expected at most the 7 that the data give, "
            "found 8");
}

}  // namespace
}  // namespace gauntlet
