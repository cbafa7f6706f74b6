#include "harness/explore/launch_breaches.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

LauncherRun Ended(uint64_t planned, const std::string& status, uint64_t steps) {
  return {.planned = planned,
          .first_life = static_cast<int>(planned) + 1,
          .result = FinalResult{.status = status, .steps = steps}};
}

// Stops after step 8; has another job; is the job to its end.
Record ThreeLaunches() {
  Record record;
  record.setup.launches = {{.stop_at_step = 8}, {.other_job = true}, {}};
  record.launchers = {Ended(0, "stopped", 8),
                      {.exit_code = 8, .planned = 1, .first_life = 2},
                      Ended(2, "done", 24)};
  record.lives = {{.worker = 0, .life = 3}};
  record.lives[0].events = {{.kind = RecordKind::kResumed, .step = 8}};
  return record;
}

std::vector<std::string> BreachesOf(const Record& record) {
  std::vector<std::string> names;
  for (const Finding& finding : LaunchBreaches(record)) {
    names.push_back(finding.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(LaunchBreachesTest, FindsNothing_WhereEachLaunchDidWhatWasPlanned) {
  EXPECT_EQ(BreachesOf(ThreeLaunches()), Names());
  EXPECT_EQ(BreachesOf(Record()), Names());
}

TEST(LaunchBreachesTest, FindsAChangedJobThatWasTrained) {
  Record record = ThreeLaunches();
  record.launchers[1] = Ended(1, "done", 24);
  EXPECT_EQ(BreachesOf(record), Names{"changed-job"});
}

TEST(LaunchBreachesTest, FindsAStopThatComesLate) {
  Record record = ThreeLaunches();
  record.launchers[0] = Ended(0, "stopped", 9);
  EXPECT_EQ(BreachesOf(record), Names{"stop-at-step"});
  record.launchers[0] = Ended(0, "done", 24);
  EXPECT_EQ(BreachesOf(record), Names{"stop-at-step"});
  record.setup.steps_per_execution = 3;
  record.launchers[0] = Ended(0, "stopped", 9);
  EXPECT_EQ(BreachesOf(record), Names()) << "an execution ends there";
}

TEST(LaunchBreachesTest, AllowsALaunchThatBeganPastItsStopToTrainOn) {
  Record record = ThreeLaunches();
  record.launchers = {Ended(0, "done", 24)};
  EXPECT_EQ(BreachesOf(record), Names());
}

TEST(LaunchBreachesTest, FindsAStopThatNobodyAskedFor) {
  Record record = ThreeLaunches();
  record.launchers[0] = Ended(0, "stopped", 6);
  EXPECT_EQ(BreachesOf(record), Names{"stop-without-notice"});
  record.faults = {{.id = "notice", .kind = "preempt"}};
  EXPECT_EQ(BreachesOf(record), Names());
}

}  // namespace
}  // namespace gauntlet
