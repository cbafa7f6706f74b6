#include "engine/api/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/api/fit_fixture.h"

namespace gauntlet {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

TEST(CoordinatorTest, CallsABodyNowAndThenEveryPeriod) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    Coordinator coordinator(world);
    int calls = 0;
    coordinator.Loop("count", seconds(10), [&] {
      ++calls;
      return OkStatus();
    });
    world.clock.SleepUntil(world.clock.Now() + seconds(35));
    EXPECT_TRUE(coordinator.Join(seconds(1)).ok());
    EXPECT_EQ(calls, 4);
  });
}

TEST(CoordinatorTest, FirstErrorStopsAllAndIsReportedOnce) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    Coordinator coordinator(world);
    int calls = 0;
    coordinator.Loop("count", seconds(1), [&] {
      ++calls;
      return OkStatus();
    });
    for (const int after : {5, 7}) {
      coordinator.Loop(fmt::format("fails after {} s", after), seconds(after),
                       [&, begin = world.clock.Now(), after] {
                         return world.clock.Now() - begin < seconds(after)
                                    ? OkStatus()
                                    : IoError("no more");
                       });
    }
    world.clock.SleepUntil(world.clock.Now() + seconds(60));
    EXPECT_TRUE(coordinator.ShouldStop());
    EXPECT_EQ(coordinator.Join(seconds(1)).message(),
              "fails after 5 s: no more");
    EXPECT_LE(calls, 6);
  });
}

TEST(CoordinatorTest, NamesAndAbandonsATaskThatDoesNotEnd) {
  FitFixture fixture;
  fixture.Run([](World& world) {
    Coordinator coordinator(world);
    coordinator.Loop("sleeper", seconds(1), [&] {
      world.clock.SleepUntil(world.clock.Now() + std::chrono::hours(1));
      return OkStatus();
    });
    world.clock.SleepUntil(world.clock.Now() + seconds(1));
    const Time begin = world.clock.Now();
    const Status ended = coordinator.Join(seconds(3));
    EXPECT_EQ(ended.code(), Code::kDeadlineExceeded);
    EXPECT_THAT(ended.message(), HasSubstr("sleeper still busy"));
    EXPECT_LT(world.clock.Now() - begin, seconds(4));
  });
}

}  // namespace
}  // namespace gauntlet
