// Attempts with fewer workers than the attempt before.
#include "harness/run/failure/history/scale_downs.h"

#include <initializer_list>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns a record of attempts that each start these workers.
Record RecordOfAttempts(
    RunSetup setup,
    std::initializer_list<std::initializer_list<int>> attempts) {
  Record record;
  record.setup = std::move(setup);
  LauncherRun& run = record.launchers.emplace_back();
  for (const std::initializer_list<int>& workers : attempts) {
    for (const int worker : workers) {
      run.events.push_back({.kind = RecordKind::kStarted, .about = worker});
    }
    run.events.push_back({.kind = RecordKind::kAttemptEnds});
  }
  return record;
}

TEST(ScaleDownTest, WorkerThatFailedAgainAndAgainIsLeftOutByMinWorkers) {
  EXPECT_THAT(ScaleDownTexts(RecordOfAttempts({.min_workers = 2},
                                              {{0, 1, 2}, {0, 1, 2}, {0, 2}})),
              ElementsAre("the launcher scaled the cluster down from 3 workers "
                          "to 2 (attempt 3), as worker 1 had failed 3 times in "
                          "a row and cluster.min_workers is 2"));
}

TEST(ScaleDownTest, PlanOfAttemptsIsNamed) {
  EXPECT_THAT(
      ScaleDownTexts(
          RecordOfAttempts({.workers_per_attempt = {3, 1}}, {{0, 1, 2}, {0}})),
      ElementsAre("the launcher scaled the cluster down from 3 workers to 1 "
                  "(attempt 2), as cluster.workers_per_attempt ([3, 1]) plans "
                  "it"));
}

TEST(ScaleDownTest, OtherJobsAreNotScaledDown) {
  EXPECT_THAT(ScaleDownTexts(RecordOfAttempts({}, {{0, 1}, {0}})), IsEmpty());
  EXPECT_THAT(
      ScaleDownTexts(RecordOfAttempts({.min_workers = 1}, {{0, 1}, {0, 1}})),
      IsEmpty());
}

}  // namespace
}  // namespace gauntlet
