#include "engine/cli/terminal/output_writer.h"

#include <array>
#include <future>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/posix/descriptor.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Enough to fill a pipe and a writer's buffer many times over.
constexpr int kManyLines = 40'000;
const std::string kLine(99, 'x');
const std::string kLastOfManyLines =
    std::to_string(kManyLines - 1) + kLine + "\n";

constexpr FlushTimeouts kShort = {.idle = milliseconds(20),
                                  .total = milliseconds(200)};
constexpr FlushTimeouts kLong = {.idle = seconds(60), .total = seconds(60)};

// A pipe whose write end is never closed: writers may still block in it when
// the test ends.
class Pipe {
 public:
  Pipe() {
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read_ = Descriptor(ends[0]);
    write_ = ends[1];
    signal(SIGPIPE, SIG_IGN);
  }
  int write_end() const { return write_; }
  void CloseReader() { read_.Reset(); }
  // Reads everything that is currently in the pipe.
  std::string Read() {
    std::string all;
    while (IsReadable(milliseconds(0))) all += ReadSome();
    return all;
  }
  // Reads up to the given ending.
  std::string ReadUpTo(std::string_view ending) {
    std::string all;
    while (!all.ends_with(ending) && IsReadable(seconds(60))) all += ReadSome();
    return all;
  }

 private:
  bool IsReadable(milliseconds patience) const {
    pollfd wait = {.fd = read_.get(), .events = POLLIN, .revents = 0};
    return poll(&wait, 1, static_cast<int>(patience.count())) == 1;
  }
  std::string ReadSome() {
    std::string some(65536, '\0');
    const ssize_t size = read(read_.get(), some.data(), some.size());
    some.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return some;
  }

  Descriptor read_;
  int write_ = -1;
};

void WriteManyLines(OutputWriter& writer) {
  for (int i = 0; i < kManyLines; ++i) {
    writer.Write(std::to_string(i) + kLine + "\n");
  }
}

TEST(OutputWriterTest, WritesInOrder) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kMessages);
  writer.Write("one\n");
  writer.Write("two\n");
  EXPECT_TRUE(writer.Flush(kLong).ok());
  EXPECT_EQ(pipe.Read(), "one\ntwo\n");
}

// The newest lines matter most; a message replaces the dropped ones.
TEST(OutputWriterTest, DropsTheOldestLinesAndReportsHowMany_IfNobodyReads) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kMessages);
  writer.Write("first\n");
  ASSERT_TRUE(writer.Flush(kLong).ok());
  WriteManyLines(writer);
  writer.Write("last\n");
  EXPECT_EQ(writer.Flush(kShort).code(), Code::kDeadlineExceeded);
  const std::string all = pipe.ReadUpTo("last\n");
  EXPECT_LT(all.size(), 2 * kMaxHeldBytes);
  EXPECT_THAT(all, StartsWith("first\n"));
  EXPECT_THAT(all, HasSubstr("\ngauntlet: "));
  EXPECT_THAT(all, HasSubstr(" lines dropped here"));
  EXPECT_THAT(all, EndsWith("x\nlast\n"));
  EXPECT_TRUE(writer.Flush(kLong).ok());
}

TEST(OutputWriterTest, KeepsAllResults) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kResults);
  WriteManyLines(writer);
  auto all = std::async(std::launch::async,
                        [&] { return pipe.ReadUpTo(kLastOfManyLines); });
  EXPECT_TRUE(writer.Flush(kLong).ok());
  const std::string text = all.get();
  EXPECT_EQ(std::ranges::count(text, '\n'), kManyLines);
  EXPECT_THAT(text, Not(HasSubstr("dropped")));
}

// A slow reader receives everything.
TEST(OutputWriterTest, WaitsForASlowReader) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kMessages);
  for (int i = 0; i < 2000; ++i) writer.Write(kLine + "\n");
  writer.Write("last\n");
  auto all =
      std::async(std::launch::async, [&] { return pipe.ReadUpTo("last\n"); });
  EXPECT_TRUE(writer.Flush({.idle = seconds(30), .total = seconds(60)}).ok());
  EXPECT_EQ(all.get().size(), 2000 * (kLine.size() + 1) + 5);
}

// A command may wait for its readers until it receives a signal.
TEST(OutputWriterTest, FlushHasNoLimitUntilTheProgramMustEnd) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kResults);
  WriteManyLines(writer);
  int asked = 0;
  const Status flushed = writer.Flush(kShort, [&] { return ++asked > 3; });
  EXPECT_EQ(flushed.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(asked, 4) << "from then on its timeouts count";
}

TEST(OutputWriterTest, FailedWriteIsTheStatusAndBlocksNoWriter) {
  Pipe pipe;
  pipe.CloseReader();
  OutputWriter writer(pipe.write_end(), OutputKind::kResults);
  WriteManyLines(writer);
  EXPECT_THAT(writer.Flush(kLong).message(), HasSubstr("Broken pipe"));
}

// The process that opened a pipe may have made it non-blocking for all that
// share it.
TEST(OutputWriterTest, WaitsForRoomInAPipeThatDoesNotBlock) {
  Pipe pipe;
  fcntl(pipe.write_end(), F_SETFL, O_NONBLOCK);
  OutputWriter writer(pipe.write_end(), OutputKind::kResults);
  WriteManyLines(writer);
  auto all = std::async(std::launch::async,
                        [&] { return pipe.ReadUpTo(kLastOfManyLines); });
  EXPECT_TRUE(writer.Flush(kLong).ok());
  EXPECT_EQ(std::ranges::count(all.get(), '\n'), kManyLines);
}

TEST(OutputBufferTest, HandsOnWholeLinesAndTheRestAtAFlush) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kMessages);
  OutputBuffer buffer(writer);
  std::ostream stream(&buffer);
  stream << "a line\nand " << 'a';
  EXPECT_TRUE(writer.Flush(kLong).ok());
  EXPECT_EQ(pipe.Read(), "a line\n");
  stream << " half" << std::flush;
  EXPECT_TRUE(writer.Flush(kLong).ok());
  EXPECT_EQ(pipe.Read(), "and a half");
}

}  // namespace
}  // namespace gauntlet
