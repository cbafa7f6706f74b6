#include "harness/run/slow_watch.h"

#include <chrono>
#include <future>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr auto kLong = seconds(60);

TEST(SlowWatchTest, WhoIsOverItsTimeIsToldOfOnceAndInTheOrderOfTheirTimes) {
  std::vector<size_t> told;
  std::promise<void> both;
  {
    SlowWatch watch([&](size_t item) {
      told.push_back(item);
      if (item == 2) both.set_value();
    });
    watch.Begins(1, hours(1));
    watch.Begins(2, seconds(2));
    watch.Begins(3, milliseconds(1));
    ASSERT_EQ(both.get_future().wait_for(kLong), std::future_status::ready);
  }
  EXPECT_THAT(told, ElementsAre(3, 2));
}

TEST(SlowWatchTest, WhoIsOverBeforeItsTimeIsNotToldOf) {
  std::vector<size_t> told;
  std::promise<void> last;
  SlowWatch watch([&](size_t item) {
    told.push_back(item);
    if (item == 2) last.set_value();
  });
  watch.Begins(1, seconds(1));
  watch.Ends(1);
  watch.Begins(2, milliseconds(1500));
  ASSERT_EQ(last.get_future().wait_for(kLong), std::future_status::ready);
  watch.Ends(2);
  EXPECT_THAT(told, ElementsAre(2));
}

}  // namespace
}  // namespace gauntlet
