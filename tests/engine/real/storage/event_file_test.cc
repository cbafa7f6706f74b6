#include "engine/real/storage/event_file.h"

#include <latch>
#include <map>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/posix/system_clock.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/engine/real/test_process.h"
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace gauntlet {
namespace {

using nlohmann::ordered_json;

class FixedClock final : public Clock {
 public:
  Time Now() const override { return Time(Duration(81225000123)); }
  int64_t UnixSeconds() const override { return 0; }
  void SleepUntil(Time) override {}
};

std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream text(TextOf(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Returns the line of one event.
std::string LineOf(const LogEvent& event) {
  const ScratchDirectory scratch;
  const FixedClock clock;
  auto log = EventFile::Open(scratch / "events", {}, clock, {});
  (*log)->Emit(event);
  return LinesOf(scratch / "events").at(1);
}

TEST(EventFileTest, BeginsWithAHeader) {
  const ScratchDirectory scratch;
  const FixedClock clock;
  const auto log = EventFile::Open(scratch / "events",
                                   {.worker = 3, .incarnation = 2}, clock, {});
  EXPECT_EQ(TextOf(scratch / "events"),
            "{\"kind\":\"header\",\"schema\":\"gauntlet.events/v2\","
            "\"worker\":3,\"incarnation\":2,\"pid\":" +
                std::to_string(getpid()) + ",\"clock\":\"monotonic\"}\n");
}

TEST(EventFileTest, WritesEveryFieldThatIsNotZero) {
  EXPECT_EQ(LineOf({.kind = EventKind::kStep,
                    .generation = 3,
                    .step = 150,
                    .epoch = 1,
                    .position = 2048,
                    .phase = Phase::kEvaluationDue,
                    .count = -5,
                    .loss_bits = 0x3f2a0c11,
                    .digest = Digest{.high = 1, .low = 0xabc},
                    .path = "/a/b",
                    .detail = "why",
                    .samples = {7, 0, 9}}),
            "{\"kind\":\"step\",\"t_ns\":81225000123,\"generation\":3,"
            "\"step\":150,\"epoch\":1,\"position\":2048,"
            "\"phase\":\"evaluation_due\",\"count\":-5,\"loss\":\"3f2a0c11\","
            "\"digest\":\"00000000000000010000000000000abc\",\"path\":\"/a/b\","
            "\"detail\":\"why\",\"samples\":[7,0,9]}");
}

TEST(EventFileTest, LeavesOutFieldsThatAreZero) {
  EXPECT_EQ(LineOf({.kind = EventKind::kWorkerExited}),
            "{\"kind\":\"worker_exited\",\"t_ns\":81225000123}");
}

TEST(EventFileTest, EveryTextComesBackFromItsLine) {
  for (const std::string& text :
       {std::string("plain"), std::string("a\"b\\c\n\t\x01 d"),
        std::string("nul\0inside", 10), std::string("ü € 😀"),
        std::string("\x7f")}) {
    const auto line = ordered_json::parse(
        LineOf({.kind = EventKind::kRejected, .path = text, .detail = text}));
    EXPECT_EQ(line.at("path"), text);
    EXPECT_EQ(line.at("detail"), text);
  }
}

TEST(EventFileTest, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  const auto line = ordered_json::parse(
      LineOf({.kind = EventKind::kRejected, .detail = "a\xff\xfe z"}));
  EXPECT_EQ(line.at("detail"), "a\xef\xbf\xbd\xef\xbf\xbd z");
}

// A limit on the size of files makes the writes fail, as a full disk does.
TEST(EventFileTest, FileThatCannotGrow_EndsOnlyTheLog) {
  const ScratchDirectory scratch;
  const FixedClock clock;
  std::vector<std::string> failures;
  auto log = EventFile::Open(
      scratch / "events", {}, clock,
      [&](const Status& status) { failures.push_back(status.message()); });
  struct rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit none = {1, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  (*log)->Emit({.kind = EventKind::kStep, .step = 1});
  (*log)->Emit({.kind = EventKind::kStep, .step = 2});
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  (*log)->Emit({.kind = EventKind::kStep, .step = 3});
  EXPECT_EQ(LinesOf(scratch / "events").size(), 1u);
  EXPECT_THAT(failures,
              testing::ElementsAre(testing::HasSubstr("events: write: ")));
}

TEST(EventFileTest, KeepsNoLateFrameAfterTheEnd) {
  const ScratchDirectory scratch;
  const FixedClock clock;
  const auto log = EventFile::Open(scratch / "events", {}, clock, {});
  (*log)->Emit({.kind = EventKind::kFrameLate});
  (*log)->Emit({.kind = EventKind::kWorkerExited});
  (*log)->Emit({.kind = EventKind::kFrameLate});
  EXPECT_EQ(LinesOf(scratch / "events").size(), 3u)
      << "header, late frame and end";
  (*log)->Emit({.kind = EventKind::kStep});
  EXPECT_EQ(LinesOf(scratch / "events").size(), 4u)
      << "what the worker itself says too late is for the judge";
}

TEST(EventFileTest, ContinuesAtTheEndOfAFileThatExists) {
  const ScratchDirectory scratch;
  const FixedClock clock;
  for (int incarnation : {1, 2}) {
    const auto log = EventFile::Open(scratch / "events",
                                     {.incarnation = incarnation}, clock, {});
    (*log)->Emit({.kind = EventKind::kWorkerStarted});
  }
  EXPECT_EQ(LinesOf(scratch / "events").size(), 4u);
}

TEST(EventFileTest, RefusesAPipeWithoutWaitingForItsReader) {
  const ScratchDirectory scratch;
  const FixedClock clock;
  ASSERT_EQ(mkfifo((scratch / "events").c_str(), 0600), 0);
  const auto refused = [&] {
    const Status opened =
        EventFile::Open(scratch / "events", {}, clock, {}).status();
    EXPECT_EQ(opened.code(), Code::kInvalidArgument);
    EXPECT_THAT(opened.message(),
                testing::HasSubstr("events: expected a regular file, "
                                   "found a pipe"));
  };
  refused();
  const Descriptor reader(
      open((scratch / "events").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  refused();
}

TEST(EventFileTest, AppendsToNothingThroughALink) {
  const ScratchDirectory scratch;
  const FixedClock clock;
  std::ofstream(scratch / "mine") << "text";
  std::filesystem::create_symlink(scratch / "mine", scratch / "events");
  EXPECT_THAT(
      EventFile::Open(scratch / "events", {}, clock, {}).status().message(),
      testing::HasSubstr("expected a regular file, found a link"));
  EXPECT_EQ(TextOf(scratch / "mine"), "text");
}

TEST(EventFileTest, NamesAFileThatCannotBeMade) {
  const FixedClock clock;
  const auto log = EventFile::Open("/no/such/folder/events", {}, clock, {});
  EXPECT_EQ(log.status().ToString(),
            "NOT_FOUND: /no/such/folder/events: open: No such file or "
            "directory");
}

TEST(EventFileTest, KeepsEveryEventOfEveryThread_InTheOrderOfTime) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kEvents = 1000;
  const ScratchDirectory scratch;
  const SystemClock clock;
  const auto log = *EventFile::Open(scratch / "events", {}, clock, {});
  std::latch all_started(kThreads);
  std::vector<std::thread> threads;
  for (uint64_t thread = 1; thread <= kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      all_started.arrive_and_wait();
      for (uint64_t step = 1; step <= kEvents; ++step) {
        log->Emit({.kind = EventKind::kStep, .step = step, .epoch = thread});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  const auto lines = LinesOf(scratch / "events");
  ASSERT_EQ(lines.size(), 1 + kThreads * kEvents);
  std::map<uint64_t, uint64_t> last_step;  // by thread
  uint64_t last_time = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    const ordered_json event = ordered_json::parse(lines[i]);
    EXPECT_EQ(event.at("step"), ++last_step[event.at("epoch")]);
    EXPECT_GE(event.at("t_ns"), last_time);
    last_time = event.at("t_ns");
  }
}

TEST(EventFileTest, KeepsWholeLinesInOrderWhenTheProcessIsKilled) {
  const ScratchDirectory scratch;
  TestProcess child({"emit", scratch / "events"});
  ASSERT_EQ(child.ReadLine(), "emitting");
  child.Kill();
  const std::string text = TextOf(scratch / "events");
  ASSERT_TRUE(text.ends_with('\n'));
  const auto lines = LinesOf(scratch / "events");
  ASSERT_GE(lines.size(), 1001u);
  for (size_t i = 1; i < lines.size(); ++i) {
    ASSERT_EQ(ordered_json::parse(lines[i]).at("step"), i);
  }
}

}  // namespace
}  // namespace gauntlet
