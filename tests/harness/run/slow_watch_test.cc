#include "harness/run/slow_watch.h"

#include <chrono>
#include <future>
#include <optional>
#include <utility>
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

class SlowWatchTest : public testing::Test {
 protected:
  // Waits until item 2 is reported, ends the watch, and returns all reported
  // items.
  std::vector<size_t> ReportedUntilTheSecond() {
    EXPECT_EQ(second_.get_future().wait_for(kLong), std::future_status::ready);
    watch_.reset();
    return settings_;
  }

  std::vector<size_t> settings_;
  std::promise<void> second_;
  std::optional<SlowWatch> watch_{std::in_place, [this](size_t item) {
                                    settings_.push_back(item);
                                    if (item == 2) second_.set_value();
                                  }};
};

TEST_F(SlowWatchTest, ReportsEachSlowCaseOnceInTheOrderOfTheirLimits) {
  watch_->Begins(1, hours(1));
  watch_->Begins(2, seconds(2));
  watch_->Begins(3, milliseconds(1));
  EXPECT_THAT(ReportedUntilTheSecond(), ElementsAre(3, 2));
}

TEST_F(SlowWatchTest, DoesNotReportACaseThatEndsInTime) {
  watch_->Begins(1, seconds(1));
  watch_->Ends(1);
  watch_->Begins(2, milliseconds(1500));
  EXPECT_THAT(ReportedUntilTheSecond(), ElementsAre(2));
}

}  // namespace
}  // namespace gauntlet
