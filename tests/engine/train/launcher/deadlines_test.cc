#include "engine/train/launcher/deadlines.h"

#include <chrono>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// The judge uses these deadlines, so none may become longer by accident.
TEST(DeadlinesTest, PinsTheDefaults) {
  EXPECT_EQ(DeadlinesOf({}, {}),
            (Deadlines{.silence = seconds(5),
                       .shortest_hang = seconds(30),
                       .detection_in_training = seconds(40),
                       .detection_in_a_save = seconds(310),
                       .detection_in_joining = seconds(340),
                       .detection_before_joining = seconds(610),
                       .first_restart_pause = milliseconds(100),
                       .longest_restart_pause = seconds(10),
                       .orphans_end = seconds(5)}));
}

TEST(DeadlinesTest, RejoiningMayWaitForASave) {
  const LauncherOptions rejoins = {.restart = RestartPolicy::kRejoin};
  EXPECT_EQ(DeadlinesOf({}, rejoins).detection_in_joining,
            DeadlinesOf({}, {}).detection_in_joining + seconds(300));
}

TEST(DeadlinesTest, FollowTheOptions) {
  const ClusterOptions cluster = {.lost_after = seconds(1),
                                  .rendezvous_timeout = seconds(7),
                                  .step_timeout = seconds(3),
                                  .save_timeout = seconds(2)};
  const LauncherOptions launcher = {.backoff = minutes(1),
                                    .start_timeout = minutes(2)};
  EXPECT_EQ(DeadlinesOf(cluster, launcher),
            (Deadlines{.silence = seconds(1),
                       .shortest_hang = seconds(2),
                       .detection_in_training = seconds(5),
                       .detection_in_a_save = seconds(5),
                       .detection_in_joining = seconds(11),
                       .detection_before_joining = seconds(122),
                       .first_restart_pause = seconds(10),
                       .longest_restart_pause = seconds(10),
                       .orphans_end = seconds(5)}));
}

}  // namespace
}  // namespace gauntlet
