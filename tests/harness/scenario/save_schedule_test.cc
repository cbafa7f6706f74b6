#include "harness/scenario/save_schedule.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the case of a job of `epoch` steps per epoch on one worker.
Case Load(const std::string& job, int epoch, const std::string& checkpoint) {
  const std::string text = fmt::format(
      "schema: gauntlet/v2\nname: a\npreset: tiny\n"
      "job: {{data: {{samples: 4096, steps_per_epoch: {}}}, {}}}\n"
      "cluster: {{workers: 1}}\ncheckpoint: {{{}}}\n"
      "expect: {{outcome: completes}}\n",
      epoch, job, checkpoint);
  const LoadedFile loaded = LoadScenarios(text, "s.yaml");
  EXPECT_EQ(RenderErrors(loaded, "s.yaml", text), "");
  return loaded.cases.at(0);
}

// Returns the steps after which the loop saves, found one by one.
std::vector<uint64_t> Walk(const Case& one) {
  const uint64_t an_epoch = ShapeOfEpoch(one.train.job).steps;
  const uint64_t last = *TotalSteps(one);
  std::vector<uint64_t> saves;
  bool due = false;
  for (uint64_t step = 1; step <= last; ++step) {
    due = due || step % one.train.checkpoint.trigger.every == 0;
    const bool ends = step % one.train.steps_per_execution == 0 ||
                      step % an_epoch == 0 || step == last;
    if (!due || !ends) continue;
    saves.push_back(step);
    due = false;
  }
  return saves;
}

uint64_t WidestGap(const std::vector<uint64_t>& saves) {
  uint64_t widest = 0;
  uint64_t before = 0;
  for (const uint64_t save : saves) {
    widest = std::max(widest, save - before);
    before = save;
  }
  return widest;
}

TEST(SaveScheduleTest, BoundsTheSavesOfALoop_ForAnyLengthOfExecution) {
  for (int every = 1; every <= 7; ++every) {
    for (int length = 1; length <= 7; ++length) {
      for (int epoch = 3; epoch <= 8; ++epoch) {
        const Case one = Load(
            fmt::format("epochs: 5, max_steps: 29, steps_per_execution: {}",
                        length),
            epoch,
            fmt::format("every: {{steps: {}}}, on_success: leave", every));
        const std::vector<uint64_t> saves = Walk(one);
        const auto name = fmt::format("{} {} {}", every, length, epoch);
        EXPECT_GE(*ScheduledSaves(one), saves.size()) << name;
        EXPECT_GE(SaveIntervalSteps(one), WidestGap(saves)) << name;
        if (length > every) continue;
        EXPECT_EQ(*ScheduledSaves(one), saves.size()) << name;
      }
    }
  }
}

TEST(SaveScheduleTest, IntervalGrowsByNoMoreThanAnExecution) {
  struct Row {
    int length;
    int epoch;
    uint64_t interval;
  };
  for (const Row& row : {Row{1, 12, 4}, Row{2, 12, 4}, Row{4, 12, 4},
                         Row{3, 12, 6}, Row{6, 12, 6}, Row{6, 10, 9}}) {
    const Case one = Load(fmt::format("steps_per_execution: {}", row.length),
                          row.epoch, "every: {steps: 4}");
    EXPECT_EQ(SaveIntervalSteps(one), row.interval) << row.length;
  }
  const Case by_epochs =
      Load("steps_per_execution: 5", 12, "every: {epochs: 2}");
  EXPECT_EQ(SaveIntervalSteps(by_epochs), 24u) << "an epoch ends executions";
}

// Returns the last save at or before the step, and the first one after it.
NearestSaves NearestOf(const std::vector<uint64_t>& saves, uint64_t step) {
  NearestSaves nearest;
  for (const uint64_t save : saves) {
    if (save <= step) nearest.at_or_before = save;
    if (save > step && !nearest.after) nearest.after = save;
  }
  return nearest;
}

TEST(SaveScheduleTest, FindsNearestSavesOfEachStep) {
  for (const bool keeps : {false, true}) {
    for (const int every : {1, 4, 5, 40}) {
      for (const int length : {1, 2, 3, 6}) {
        for (const int epoch : {4, 7}) {
          const Case one = Load(
              fmt::format("epochs: 5, max_steps: 29, steps_per_execution: {}",
                          length),
              epoch,
              fmt::format("every: {{steps: {}}}, on_success: {}", every,
                          keeps ? "keep" : "leave"));
          std::vector<uint64_t> saves = Walk(one);
          if (keeps) saves.push_back(*TotalSteps(one));
          for (uint64_t step = 0; step <= *TotalSteps(one); ++step) {
            const auto found = SavesNextTo(one, step);
            const NearestSaves expected = NearestOf(saves, step);
            const auto name = fmt::format("{} {} {} {} {}", keeps, every,
                                          length, epoch, step);
            ASSERT_TRUE(found) << name;
            EXPECT_EQ(found->at_or_before, expected.at_or_before) << name;
            EXPECT_EQ(found->after, expected.after) << name;
          }
        }
      }
    }
  }
}

TEST(SaveScheduleTest, FindsNearestSavesByEpochs) {
  const Case one = Load("epochs: 4", 10, "every: {epochs: 2}");
  EXPECT_EQ(SavesNextTo(one, 25)->at_or_before, 20u);
  EXPECT_EQ(SavesNextTo(one, 25)->after, 40u);
  const Case end = Load("epochs: 4", 10, "every: never");
  EXPECT_EQ(SavesNextTo(end, 39)->at_or_before, std::nullopt);
  EXPECT_EQ(SavesNextTo(end, 39)->after, 40u);
  EXPECT_FALSE(SavesNextTo(Load("epochs: 4", 10, "every: {seconds: 2}"), 3));
}

TEST(SaveScheduleTest, SavesWithinOneExecution_CountOnce) {
  const std::string leave = "every: {steps: 1}, on_success: leave";
  EXPECT_EQ(ScheduledSaves(Load("steps_per_execution: 6", 12, leave)), 6u);
  // An execution ends after every sixth step, and at the end of each epoch of
  // ten steps: 6 10 12 18 20 24 30.
  EXPECT_EQ(ScheduledSaves(Load("steps_per_execution: 6", 10, leave)), 7u);
  EXPECT_EQ(
      ScheduledSaves(Load("steps_per_execution: 6, max_steps: 7", 10, leave)),
      2u);
}

TEST(SaveScheduleTest, EndOfARun_AddsASave_UnlessOneIsDueThere) {
  EXPECT_EQ(ScheduledSaves(Load("epochs: 3", 10, "every: never")), 1u);
  EXPECT_EQ(ScheduledSaves(Load("epochs: 3", 10, "every: {epochs: 2}")), 2u);
  EXPECT_EQ(ScheduledSaves(Load("epochs: 4", 10, "every: {epochs: 2}")), 2u);
  EXPECT_EQ(
      ScheduledSaves(Load("epochs: 3, max_steps: 8", 10, "every: {steps: 4}")),
      2u);
}

}  // namespace
}  // namespace gauntlet
