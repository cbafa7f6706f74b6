// Cost of one error in a save, in any mode of saving.
#ifndef GAUNTLET_TESTS_ENGINE_TRAIN_SAVE_ONE_ERROR_IN_A_SAVE_H_
#define GAUNTLET_TESTS_ENGINE_TRAIN_SAVE_ONE_ERROR_IN_A_SAVE_H_

#include <string>

#include <gtest/gtest.h>

#include "tests/engine/train/training_fixture.h"

namespace gauntlet {

// Lets each operation of a save fail once, on either rank. Expects that at most
// that save is lost, and that the run continues undisturbed. REQUIRES: five
// saves.
inline void ExpectOneErrorCostsOneSave(const TrainOptions& options) {
  const std::string golden = UndisturbedDigest(SmallRun());
  for (const PointInfo& info : AllPoints()) {
    if (!IsOfSave(info.point)) continue;
    for (const int worker : {0, 1}) {
      const FaultPlan plan = {
          .faults = {{.id = "full",
                      .site = {.worker = worker, .point = info.point},
                      .kind = FaultKind::kErrno,
                      .with = {.error = ENOSPC}}}};
      const AttemptResult outcome = TrainingFixture().Run(2, options, plan);
      const std::string where =
          fmt::format("{} on worker {}: {} / {}", info.name, worker,
                      outcome.reasons[0], outcome.reasons[1]);
      EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << where;
      ASSERT_TRUE(outcome.result) << where;
      EXPECT_EQ(outcome.result->digest, golden) << where;
      EXPECT_GE(outcome.StepsOf(EventKind::kSaveAcknowledged).size(), 4u)
          << where;
    }
  }
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_TRAIN_SAVE_ONE_ERROR_IN_A_SAVE_H_
