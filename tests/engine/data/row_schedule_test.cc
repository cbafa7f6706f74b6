#include "engine/data/row_schedule.h"

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
// uses of each row.
struct Epoch {
  std::vector<uint64_t> positions;
  std::vector<std::vector<uint64_t>> counts;  // by step, then by replica
  std::map<uint32_t, int> uses;
  std::vector<std::set<uint32_t>> rows;  // by replica
};

Epoch Walk(const RowSchedule& schedule, uint32_t replicas = 4) {
  Epoch epoch;
  epoch.rows.resize(replicas);
  uint64_t position = 0;
  while (position < schedule.rows_per_epoch()) {
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
        const uint32_t row =
            schedule.RowAt(stream, static_cast<uint32_t>(range.first + i));
        epoch.rows[replica].insert(row);
        ++epoch.uses[schedule.UseOf(stream, row)];
      }
    }
    EXPECT_EQ(taken, schedule.RowsOfStep(position));
    position += taken;
  }
  EXPECT_EQ(epoch.counts.size(), schedule.steps_per_epoch());
  EXPECT_EQ(schedule.StepsLeft(position), 0u);
  EXPECT_EQ(epoch.uses.size(), schedule.rows_per_epoch());
  for (const auto& [use, times] : epoch.uses) EXPECT_EQ(times, 1) << use;
  return epoch;
}

TEST(RowScheduleTest, RowsAndStepsFollowTheRemainder) {
  struct Row {
    uint32_t rows;
    Remainder remainder;
    uint64_t used;
    uint64_t steps;
  };
  for (const Row& row :
       {Row{96, Remainder::kDrop, 96, 6}, Row{96, Remainder::kKeep, 96, 6},
        Row{97, Remainder::kDrop, 96, 6}, Row{97, Remainder::kKeep, 97, 7},
        Row{111, Remainder::kDrop, 96, 6}, Row{15, Remainder::kKeep, 15, 1}}) {
    const auto schedule = RowSchedule::Make(
        Job(ShardPolicy::kData, row.remainder), {.rows = row.rows});
    ASSERT_TRUE(schedule.ok()) << schedule.status().ToString();
    EXPECT_EQ(schedule->rows_per_epoch(), row.used) << row.rows;
    EXPECT_EQ(schedule->steps_per_epoch(), row.steps) << row.rows;
    Walk(*schedule);
  }
}

TEST(RowScheduleTest, DataWithoutAWholeStepAreRefused) {
  const auto message = [](const JobSpec& job, uint32_t rows) {
    return RowSchedule::Make(job, {.rows = rows}).status().message();
  };
  EXPECT_EQ(message(Job(ShardPolicy::kData), 15),
            "the data has 15 rows, fewer than the 16 of a global batch");
  EXPECT_EQ(message(Job(ShardPolicy::kData, Remainder::kKeep), 0),
            "the data has 0 rows, fewer than the 16 of a global batch");
  EXPECT_EQ(message(Job(ShardPolicy::kOff), 3),
            "a replica has 3 rows of the data, fewer than the 4 of a batch");
}

TEST(RowScheduleTest, OffGivesEveryReplicaEverything) {
  const auto schedule =
      RowSchedule::Make(Job(ShardPolicy::kOff), {.rows = 10}).value();
  EXPECT_EQ(schedule.steps_per_epoch(), 2u);
  EXPECT_EQ(schedule.rows_per_epoch(), 32u);
  const Epoch epoch = Walk(schedule);
  for (const auto& rows : epoch.rows) EXPECT_EQ(rows.size(), 8u);
  const auto keep =
      RowSchedule::Make(Job(ShardPolicy::kOff, Remainder::kKeep), {.rows = 10})
          .value();
  EXPECT_EQ(keep.rows_per_epoch(), 40u);
  for (const auto& rows : Walk(keep).rows) EXPECT_EQ(rows.size(), 10u);
}

TEST(RowScheduleTest, StreamsAreInOrdersOfTheirOwn) {
  const auto off =
      RowSchedule::Make(Job(ShardPolicy::kOff), {.rows = 10}).value();
  EXPECT_EQ(off.OrderKey(7, 0), 7u);
  EXPECT_NE(off.OrderKey(7, 1), off.OrderKey(7, 2));
  EXPECT_NE(off.OrderKey(7, 1), off.OrderKey(8, 1));
}

TEST(RowScheduleTest, FileDealsTheFilesOutInTurn) {
  const SourceRows source = {.rows = 50, .rows_of_files = {8, 9, 10, 11, 12}};
  const auto schedule =
      RowSchedule::Make(Job(ShardPolicy::kFile), source).value();
  // Replica 0 has files 0 and 4, the others one each.
  EXPECT_EQ(schedule.RowsOfStream(0), 20u);
  EXPECT_EQ(schedule.RowsOfStream(3), 11u);
  EXPECT_EQ(schedule.RowAt(0, 7), 7u);
  EXPECT_EQ(schedule.RowAt(0, 8), 38u);
  EXPECT_EQ(schedule.RowAt(1, 0), 8u);
  // Two batches of each replica, as replica 1 has no more.
  EXPECT_EQ(schedule.rows_per_epoch(), 32u);
  Walk(schedule);
}

TEST(RowScheduleTest, KeepContinuesUntilTheLongestStreamIsUsedUp) {
  const SourceRows source = {.rows = 50, .rows_of_files = {8, 9, 10, 11, 12}};
  const auto schedule =
      RowSchedule::Make(Job(ShardPolicy::kFile, Remainder::kKeep), source)
          .value();
  EXPECT_EQ(schedule.rows_per_epoch(), 50u);
  const Epoch epoch = Walk(schedule);
  EXPECT_EQ(epoch.positions, (std::vector<uint64_t>{0, 16, 32, 42, 46}));
  EXPECT_EQ(epoch.counts[2], (std::vector<uint64_t>{4, 1, 2, 3}));
  EXPECT_EQ(epoch.counts[4], (std::vector<uint64_t>{4, 0, 0, 0}));
}

TEST(RowScheduleTest, FileWithFewerFilesThanReplicasIsAnError) {
  const Status status =
      RowSchedule::Make(Job(ShardPolicy::kFile),
                        {.rows = 90, .rows_of_files = {30, 30, 30}})
          .status();
  EXPECT_EQ(status.ToString(),
            "INVALID_ARGUMENT: data.shard: expected a file for each of the 4 "
            "replicas, found 3");
}

TEST(RowScheduleTest, AutoTakesFilesElseDataAndGivesTheReason) {
  const auto files =
      RowSchedule::Make(Job(ShardPolicy::kAuto),
                        {.rows = 40, .rows_of_files = {10, 10, 10, 10}})
          .value();
  EXPECT_EQ(files.warning(), "");
  EXPECT_EQ(files.RowAt(1, 0), 10u);
  const auto data =
      RowSchedule::Make(Job(ShardPolicy::kAuto), {.rows = 40}).value();
  EXPECT_EQ(data.warning(),
            "shard policy auto takes data instead of file: data.shard: "
            "expected a file for each of the 4 replicas, found 1");
  EXPECT_EQ(data.rows_per_epoch(), 32u);
}

TEST(RowScheduleTest, StepsPerEpochCutsTheEpochAndNeverStretchesIt) {
  JobSpec job = Job(ShardPolicy::kData, Remainder::kKeep);
  job.data.steps_per_epoch = 2;
  const auto schedule = RowSchedule::Make(job, {.rows = 97}).value();
  EXPECT_EQ(schedule.rows_per_epoch(), 32u);
  EXPECT_EQ(schedule.steps_per_epoch(), 2u);
  Walk(schedule);
  job.data.shard = ShardPolicy::kOff;
  Walk(RowSchedule::Make(job, {.rows = 97}).value());
  job.data.steps_per_epoch = 8;
  job.data.shard = ShardPolicy::kData;
  EXPECT_EQ(RowSchedule::Make(job, {.rows = 97}).status().message(),
            "data.steps_per_epoch: expected at most the 7 that the data give, "
            "found 8");
}

}  // namespace
}  // namespace gauntlet
