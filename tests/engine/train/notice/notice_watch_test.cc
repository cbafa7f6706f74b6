#include "engine/train/notice/notice_watch.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/sim/simulation.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Behavior = MetadataService::Behavior;

constexpr const char* kUrl = "http://169.254.169.254/x";

class NoticeWatchTest : public testing::Test {
 protected:
  // Starts a process that watches for `duration`, and records what it detects.
  void Watch(const PreemptionOptions& options, Duration duration) {
    simulation_.Start({.name = "p", .host = "h", .body = [&](World& world) {
                         return Main(world, options, duration);
                       }});
    const RunOutcome outcome = simulation_.Run();
    EXPECT_EQ(outcome.end, RunEnd::kAllExited) << outcome.report;
  }

  int Main(World& world, const PreemptionOptions& options, Duration duration) {
    begin_ = world.clock.Now();
    NoticeWatch watch(world, options, [this](std::string line) {
      lines_.push_back(std::move(line));
    });
    watch.Start();
    const Host& host = watch.world().host;
    while (host.TerminationNotices() == 0 &&
           world.clock.Now() < begin_ + duration) {
      world.clock.SleepUntil(world.clock.Now() + milliseconds(10));
    }
    seen_after_ = world.clock.Now() - begin_;
    notices_ = host.TerminationNotices();
    first_ = host.FirstNotice();
    const Time stopping = world.clock.Now();
    watch.Stop();
    stop_took_ = world.clock.Now() - stopping;
    return 0;
  }

  void After(Duration duration, std::function<void()> what) {
    simulation_.At(simulation_.now() + duration, std::move(what));
  }
  void MakeFile() {
    simulation_.Start(
        {.name = "q", .host = "h", .body = [](World& world) {
           world.clock.SleepUntil(world.clock.Now() + milliseconds(2500));
           return world.storage.Open("/notice", OpenMode::kCreateTruncate).ok()
                      ? 0
                      : 1;
         }});
  }

  FiberPool pool_;
  Simulation simulation_{pool_, {.seed = 3}};
  Time begin_;
  Duration seen_after_{0};
  Duration stop_took_{0};
  int notices_ = 0;
  std::optional<Time> first_;
  std::vector<std::string> lines_;
};

TEST_F(NoticeWatchTest, SeesAFileThatAppearsAtTheNextLook) {
  MakeFile();
  Watch({.file = "/notice"}, seconds(10));
  EXPECT_EQ(notices_, 1);
  EXPECT_GE(seen_after_, milliseconds(2500));
  EXPECT_LE(seen_after_, milliseconds(3600));
  EXPECT_THAT(lines_, ElementsAre("preemption notice: /notice"));
}

// A notice may be a second old when the watch detects it, so a second of its
// grace may be used up.
TEST_F(NoticeWatchTest, DatesANoticeAtThePollBefore) {
  MakeFile();
  Watch({.file = "/notice"}, seconds(10));
  ASSERT_TRUE(first_);
  EXPECT_LE(*first_, begin_ + milliseconds(2500));
  EXPECT_GE(*first_, begin_ + milliseconds(1400));
}

TEST_F(NoticeWatchTest, ReadsTheMetadataService) {
  After(milliseconds(1500),
        [&] { simulation_.SetMetadata("h", MetadataAnswering("TRUE")); });
  Watch({.url = kUrl}, seconds(10));
  EXPECT_EQ(notices_, 1);
  EXPECT_LE(seen_after_, milliseconds(2100));
}

TEST_F(NoticeWatchTest, DetectsNothing_WithoutANotice) {
  simulation_.SetMetadata("h", {.answer = {.status = 404}});
  Watch({.file = "/notice", .url = kUrl}, seconds(5));
  EXPECT_EQ(notices_, 0);
  EXPECT_EQ(first_, std::nullopt);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(NoticeWatchTest, SendsATokenIfRequired) {
  simulation_.SetMetadata("h", {.answer = MetadataAnswering("TRUE").answer,
                                .token_lifetime = seconds(60)});
  Watch({.url = kUrl}, seconds(5));
  EXPECT_EQ(notices_, 1);
  EXPECT_LE(seen_after_, milliseconds(100));
}

TEST_F(NoticeWatchTest, TokenThatHasRunOutIsReplaced) {
  const MetadataService none = {.answer = {.status = 404},
                                .token_lifetime = milliseconds(2500)};
  simulation_.SetMetadata("h", none);
  After(seconds(9), [&] {
    simulation_.SetMetadata("h", {.answer = MetadataAnswering("TRUE").answer,
                                  .token_lifetime = seconds(60)});
  });
  Watch({.url = kUrl}, seconds(20));
  EXPECT_EQ(notices_, 1);
  EXPECT_THAT(lines_, ElementsAre("preemption notice: " + std::string(kUrl)));
}

TEST_F(NoticeWatchTest, InvalidTokenIsReportedOnceAndNeverSent) {
  const std::vector<std::pair<HttpResponse, std::string>> answers = {
      {{.status = 403}, "expected a token, found status 403"},
      {{.status = 200}, "found 0"},
      {{.status = 200, .body = "a\r\nX-Evil: b"}, "printable bytes"},
      {{.status = 200, .body = std::string(5000, 'a')}, "found 5000"}};
  for (const auto& [answer, message] : answers) {
    lines_.clear();
    simulation_.SetMetadata("h", {.answer = MetadataAnswering("TRUE").answer,
                                  .token_lifetime = seconds(60),
                                  .token_answer = answer});
    Watch({.url = kUrl}, seconds(5));
    EXPECT_EQ(notices_, 0) << message;
    ASSERT_EQ(lines_.size(), 1u) << message;
    EXPECT_THAT(lines_[0], HasSubstr(message));
    EXPECT_THAT(lines_[0], HasSubstr("/latest/api/token"));
  }
}

TEST_F(NoticeWatchTest, ResolvesTheNameOfTheService) {
  simulation_.SetMetadata("h", MetadataAnswering("TRUE"));
  Watch({.url = "http://metadata.google.internal/x"}, seconds(5));
  EXPECT_EQ(notices_, 1);
  lines_.clear();
  Watch({.url = "http://metadata.invalid/x"}, seconds(5));
  EXPECT_EQ(notices_, 0);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("name not known")));
}

TEST_F(NoticeWatchTest, FailureIsReportedOnceAndIsNoNotice) {
  const std::vector<std::pair<MetadataService, std::string>> failures = {
      {{.behavior = Behavior::kRefuses}, "refused"},
      {{.behavior = Behavior::kHangs}, "no answer in time"},
      {{.answer = {.status = 302, .body = "TRUE"}},
       "expected status 200 or 404, found 302"},
      {MetadataAnswering("maybe"), "found \"maybe\""}};
  for (const auto& [service, message] : failures) {
    lines_.clear();
    simulation_.SetMetadata("h", service);
    Watch({.url = kUrl}, seconds(5));
    EXPECT_EQ(notices_, 0) << message;
    ASSERT_EQ(lines_.size(), 1u) << message;
    EXPECT_THAT(lines_[0], HasSubstr(message));
    EXPECT_THAT(lines_[0], HasSubstr(kUrl));
  }
}

TEST_F(NoticeWatchTest, AfterAFailureItStillSeesANotice) {
  simulation_.SetMetadata("h", {.behavior = Behavior::kHangs});
  After(seconds(5),
        [&] { simulation_.SetMetadata("h", MetadataAnswering("TRUE")); });
  Watch({.url = kUrl}, seconds(20));
  EXPECT_EQ(notices_, 1);
  EXPECT_LE(seen_after_, seconds(8));
}

TEST_F(NoticeWatchTest, ServiceThatHangsDoesNotKeepAFileFromBeingSeen) {
  simulation_.SetMetadata("h", {.behavior = Behavior::kHangs});
  MakeFile();
  Watch({.file = "/notice", .url = kUrl}, seconds(20));
  EXPECT_EQ(notices_, 1);
  EXPECT_LE(seen_after_, milliseconds(4600));
}

TEST_F(NoticeWatchTest, StopWaitsAtMostOneSecond_ForAHangingService) {
  simulation_.SetMetadata("h", {.behavior = Behavior::kHangs});
  Watch({.url = kUrl}, milliseconds(100));
  EXPECT_LE(stop_took_, seconds(1));
}

TEST_F(NoticeWatchTest, StartsNoTaskWithoutASource) {
  Watch({}, seconds(1));
  EXPECT_EQ(notices_, 0);
  EXPECT_EQ(stop_took_, Duration());
}

}  // namespace
}  // namespace gauntlet
