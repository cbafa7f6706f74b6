#include "engine/real/process/launcher_socket.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/posix/system_clock.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

std::string_view WithoutLineFeed(std::string_view line) {
  return line.substr(0, line.size() - 1);
}

template <typename T>
T RoundTrip(const T& message) {
  const std::string line = WorkerMessageLine(message);
  EXPECT_LE(line.size(), static_cast<size_t>(PIPE_BUF));
  return std::get<T>(*ParseWorkerMessage(WithoutLineFeed(line)));
}

TEST(LauncherSocketTest, ProgressComesBackFromItsLine) {
  const WorkerProgress progress =
      RoundTrip<WorkerProgress>({.step = 150,
                                 .epoch = 2,
                                 .steps_per_epoch = 64,
                                 .loss = 0.1f,
                                 .line = "resumed \"here\"\n",
                                 .claimed = 7,
                                 .patience = std::chrono::seconds(31),
                                 .silent_rank = 0,
                                 .saving = std::chrono::seconds(0),
                                 .failure = "device 0: lost",
                                 .own_device_failed = true});
  EXPECT_EQ(progress.step, 150u);
  EXPECT_EQ(progress.epoch, 2u);
  EXPECT_EQ(progress.steps_per_epoch, 64u);
  EXPECT_EQ(progress.loss, 0.1f);
  EXPECT_EQ(progress.line, "resumed \"here\"\n");
  EXPECT_EQ(progress.claimed, 7u);
  EXPECT_EQ(progress.patience, std::chrono::seconds(31));
  EXPECT_EQ(progress.silent_rank, 0);
  EXPECT_EQ(progress.saving, Duration(0));
  EXPECT_EQ(progress.failure, "device 0: lost");
  EXPECT_TRUE(progress.own_device_failed);
}

TEST(LauncherSocketTest, ResultRoundTripsThroughALine) {
  const TrainResult result =
      RoundTrip<TrainResult>({.status = "done",
                              .epochs = 3,
                              .steps = 384,
                              .digest = std::string(32, 'a'),
                              .loss = 0.3f,
                              .accuracy = 0.1,
                              .val_accuracy = std::nullopt,
                              .resumed_from = 0});
  EXPECT_EQ(result.status, "done");
  EXPECT_EQ(result.epochs, 3u);
  EXPECT_EQ(result.steps, 384u);
  EXPECT_EQ(result.digest, std::string(32, 'a'));
  EXPECT_EQ(result.loss, 0.3f);
  EXPECT_EQ(result.accuracy, 0.1);
  EXPECT_EQ(result.val_accuracy, std::nullopt);
  EXPECT_EQ(result.resumed_from, 0u);
  EXPECT_TRUE(result.finite);
  EXPECT_EQ(result.not_finite_since, std::nullopt);
}

// Returns totals whose text is almost as long as it can be.
TimeTotals LongTotals() {
  TimeTotals totals = {
      .steps = UINT64_MAX, .saves = UINT64_MAX, .save_bytes = UINT64_MAX};
  for (size_t i = 0; i < kTimeParts; ++i) {
    const PartTime part = {static_cast<TimePart>(i),
                           Duration(INT64_MAX - static_cast<int64_t>(i))};
    totals.step_parts.push_back(part);
    totals.save_parts.push_back(part);
    totals.save_background.push_back(part);
  }
  return totals;
}

TEST(LauncherSocketTest, TimesOfResultComeBack) {
  const TimeTotals totals = LongTotals();
  EXPECT_EQ(RoundTrip<TrainResult>({.times = totals}).times, totals);
  EXPECT_FALSE(
      ParseWorkerMessage(
          R"({"result":{"status":"done","epochs":1,"steps":1,"digest":"",)"
          R"("times":{"steps":1,"step_parts_ns":{"lunch":5},"saves":0,)"
          R"("save_bytes":0,"save_parts_ns":{},"save_background_ns":{}}}})")
          .ok());
}

TEST(LauncherSocketTest, NonFiniteAndMissingValuesRoundTrip) {
  const TrainResult result = RoundTrip<TrainResult>(
      {.status = "not_finite", .finite = false, .not_finite_since = 9});
  EXPECT_FALSE(result.finite);
  EXPECT_EQ(result.not_finite_since, 9u);
  EXPECT_EQ(result.loss, std::nullopt);
  EXPECT_EQ(result.accuracy, std::nullopt);
  const WorkerProgress progress =
      RoundTrip<WorkerProgress>({.line = "x", .not_finite_since = 0});
  EXPECT_EQ(progress.not_finite_since, 0u);
  EXPECT_EQ(progress.loss, std::nullopt);
}

TEST(LauncherSocketTest, TransfersNonFiniteLosses) {
  EXPECT_TRUE(std::isnan(
      *RoundTrip<WorkerProgress>({.loss = std::nanf(""), .line = ""}).loss));
  EXPECT_EQ(RoundTrip<TrainResult>({.loss = HUGE_VALF}).resumed_from,
            std::nullopt);
}

TEST(LauncherSocketTest, LongTextsAreCutToOneAtomicWrite) {
  RoundTrip<WorkerProgress>({.line = std::string(100000, '\x01'),
                             .failure = std::string(100000, '"')});
  RoundTrip<TrainResult>({.status = std::string(100000, '\x01'),
                          .digest = std::string(100000, '\xff'),
                          .times = LongTotals()});
}

TEST(LauncherSocketTest, FailuresOfTwoDozenDifferencesComeBackWhole) {
  const std::string failure(2400, 'x');
  EXPECT_EQ(RoundTrip<WorkerProgress>({.failure = failure}).failure, failure);
  const std::string cut =
      RoundTrip<WorkerProgress>({.failure = std::string(5000, 'x')}).failure;
  EXPECT_TRUE(cut.ends_with("x…")) << cut;
}

TEST(LauncherSocketTest, RejectsLinesThatAreNoMessages) {
  const std::string deep(100000, '[');
  for (const std::string& line :
       {std::string(""), std::string("{"), std::string("7"),
        std::string("null"), std::string("[]"), std::string("{}"), deep,
        std::string(R"({"progress":7})"), std::string(R"({"progress":{}})"),
        std::string(R"({"progress":{"step":-1,"epoch":1,"steps_per_epoch":1,)"
                    R"("loss":"3f000000"}})"),
        std::string(R"({"progress":{"step":1,"epoch":1,"steps_per_epoch":1,)"
                    R"("loss":"3f0000zz"}})"),
        std::string(R"({"progress":{"step":1,"epoch":1,"steps_per_epoch":1,)"
                    R"("loss":"3f000000","line":7}})"),
        std::string(R"({"result":{"status":1}})"), std::string("\xff\xfe")}) {
    const auto message = ParseWorkerMessage(line);
    ASSERT_FALSE(message.ok()) << line.substr(0, 80);
    EXPECT_EQ(message.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(message.status().message().find('\n'), std::string::npos);
  }
}

TEST(LauncherSocketTest, RejectsDescriptorsThatAreNoSockets) {
  EXPECT_EQ(LauncherSocket::Open(12345).status().code(),
            Code::kInvalidArgument);
  const Descriptor file(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(LauncherSocket::Open(file.get()).status().code(),
            Code::kInvalidArgument);
}

// Both ends of a worker's socket; the launcher does not read its end.
class UnreadMessagesTest : public testing::Test {
 protected:
  UnreadMessagesTest() {
    std::array<int, 2> ends = {};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      std::abort();
    }
    launcher_ = Descriptor(ends[0]);
    socket_ = LauncherSocket::Open(ends[1]).value();
  }

  // Sends far more progress than fits into the unread socket.
  void Flood(const WorkerProgress& progress) {
    for (int i = 0; i < 5000; ++i) socket_->Progress(progress);
  }
  std::vector<std::string> Received() {
    std::string text(1 << 20, '\0');
    std::vector<std::string> lines;
    ssize_t size = 0;
    std::string all;
    while ((size = recv(launcher_.get(), text.data(), text.size(),
                        MSG_DONTWAIT)) > 0) {
      all.append(text.data(), static_cast<size_t>(size));
    }
    std::istringstream stream(all);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  // Reads all messages that wait. Passes those with a line to `add`.
  void Drain(const std::function<void(const WorkerProgress&)>& add) {
    std::vector<std::string> received = Received();
    while (!received.empty()) {
      for (const std::string& text : received) {
        const auto message =
            std::get<WorkerProgress>(*ParseWorkerMessage(text));
        if (!message.line.empty()) add(message);
      }
      if (received.size() == 1) return;
      socket_->Progress({.step = 1});
      received = Received();
    }
  }
  std::vector<uint64_t> StepsOfLines() {
    std::vector<uint64_t> steps;
    Drain(
        [&](const WorkerProgress& message) { steps.push_back(message.step); });
    return steps;
  }
  void AddLines(std::vector<std::string>& lines) {
    Drain(
        [&](const WorkerProgress& message) { lines.push_back(message.line); });
  }

  Descriptor launcher_;
  std::unique_ptr<LauncherSocket> socket_;
};

constexpr Time kPast{};

TEST_F(UnreadMessagesTest, Texts_LeaveRoomForControlMessages) {
  Flood({.line = std::string(500, 'x')});
  socket_->Progress({.step = 9, .rendezvous = 3});
  const std::vector<std::string> received = Received();
  EXPECT_GT(received.size(), 10u);
  EXPECT_LT(received.size(), 5000u);
  EXPECT_EQ(
      std::get<WorkerProgress>(*ParseWorkerMessage(received.back())).rendezvous,
      3u);
}

TEST_F(UnreadMessagesTest, LinesWaitUntilTheLauncherReads) {
  constexpr uint64_t kLines = 2000;
  for (uint64_t i = 0; i < kLines; ++i) {
    socket_->Progress({.step = i, .line = "a line"});
  }
  const std::vector<uint64_t> steps = StepsOfLines();
  EXPECT_EQ(steps.size(), kLines);
  EXPECT_TRUE(std::ranges::is_sorted(steps));
}

TEST_F(UnreadMessagesTest, LinesThatDoNotFitAreCounted) {
  Flood({.line = std::string(500, 'x')});
  std::vector<std::string> lines;
  AddLines(lines);
  const std::string expected = fmt::format(
      "lines not shown, as the launcher did not read them in time: "
      "{}",
      5000 - (lines.size() - 1));
  EXPECT_EQ(lines.back(), expected);
  EXPECT_GT(lines.size(), kMaxWaitingBytes / 600);
}

TEST_F(UnreadMessagesTest, ControlMessage_OvertakesWaitingLines) {
  Flood({.line = "a line"});
  Received();
  socket_->Progress({.patience = std::chrono::minutes(10)});
  const std::vector<std::string> received = Received();
  EXPECT_EQ(
      std::get<WorkerProgress>(*ParseWorkerMessage(received.back())).patience,
      std::chrono::minutes(10));
}

TEST_F(UnreadMessagesTest, Result_IsPrecededByTheCountOfUnsentLines) {
  Flood({.line = "a line"});
  socket_->Result({.status = "done", .digest = std::string(32, 'a')});
  const std::vector<std::string> received = Received();
  const std::string expected =
      fmt::format("in time: {}", 5000 - (received.size() - 2));
  EXPECT_THAT(received.at(received.size() - 2), HasSubstr(expected));
}

TEST_F(UnreadMessagesTest, EverythingLeavesRoomForTheResult) {
  Flood({.line = std::string(500, 'x')});
  Flood({.failure = std::string(500, 'x')});
  socket_->Result({.status = "done", .digest = std::string(32, 'a')});
  const std::vector<std::string> received = Received();
  EXPECT_EQ(std::get<TrainResult>(*ParseWorkerMessage(received.back())).status,
            "done");
}

TEST_F(UnreadMessagesTest, AcknowledgementIsWaitedForUntilTheDeadline) {
  EXPECT_EQ(socket_->AwaitAcknowledgement(kPast).code(),
            Code::kDeadlineExceeded);
  const Time soon = SystemClock().Now() + std::chrono::seconds(60);
  ASSERT_EQ(send(launcher_.get(), kAcknowledgementLine.data(),
                 kAcknowledgementLine.size(), 0),
            static_cast<ssize_t>(kAcknowledgementLine.size()));
  EXPECT_TRUE(socket_->AwaitAcknowledgement(soon).ok());
  launcher_.Reset();
  EXPECT_EQ(socket_->AwaitAcknowledgement(soon).code(), Code::kUnavailable);
}

}  // namespace
}  // namespace gauntlet
