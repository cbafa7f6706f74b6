#include "harness/cli/output_writer.h"

#include <array>
#include <future>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/descriptor.h"
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

// Enough to fill a pipe and what a writer holds, many times over.
constexpr int kManyLines = 40'000;
const std::string kLine(99, 'x');

constexpr OutputPatience kShort = {.idle = milliseconds(20),
                                   .total = milliseconds(200)};
constexpr OutputPatience kLong = {.idle = seconds(60), .total = seconds(60)};

// Writers may be stuck in it when the test ends: it is closed by nobody before.
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
  // All that comes until nothing does for a while.
  std::string ReadAll() {
    std::string all;
    std::array<char, 65536> chunk = {};
    pollfd wait = {.fd = read_.get(), .events = POLLIN, .revents = 0};
    while (poll(&wait, 1, 500) == 1) {
      const ssize_t size = read(read_.get(), chunk.data(), chunk.size());
      if (size <= 0) break;
      all.append(chunk.data(), static_cast<size_t>(size));
    }
    return all;
  }

 private:
  Descriptor read_;
  int write_ = -1;
};

void WriteManyLines(OutputWriter& writer) {
  for (int i = 0; i < kManyLines; ++i) {
    writer.Write(std::to_string(i) + kLine + "\n");
  }
}

TEST(OutputWriterTest, WritesInOrderWhatIsRead) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kMessages);
  writer.Write("one\n");
  writer.Write("two\n");
  EXPECT_TRUE(writer.Settle(kLong).ok());
  EXPECT_EQ(pipe.ReadAll(), "one\ntwo\n");
}

// What is newest counts most, and the gap is told in its place.
TEST(OutputWriterTest, DropsTheOldestLinesAndSaysHowMany_IfNobodyReads) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kMessages);
  WriteManyLines(writer);
  writer.Write("last\n");
  EXPECT_EQ(writer.Settle(kShort).code(), Code::kDeadlineExceeded);
  const std::string all = pipe.ReadAll();
  EXPECT_LT(all.size(), 2 * kMaxHeldBytes);
  EXPECT_THAT(all, testing::StartsWith("0x"));
  EXPECT_THAT(all, HasSubstr("x\ngauntlet: "));
  EXPECT_THAT(all, HasSubstr(" lines were dropped here"));
  EXPECT_THAT(all, EndsWith("x\nlast\n"));
  EXPECT_TRUE(writer.Settle(kLong).ok());
}

TEST(OutputWriterTest, KeepsAllResults) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kResults);
  WriteManyLines(writer);
  auto all = std::async(std::launch::async, [&] { return pipe.ReadAll(); });
  EXPECT_TRUE(writer.Settle(kLong).ok());
  const std::string text = all.get();
  EXPECT_EQ(std::ranges::count(text, '\n'), kManyLines);
  EXPECT_THAT(text, Not(HasSubstr("dropped")));
}

// A reader that is only slow gets everything.
TEST(OutputWriterTest, WaitsForAReaderThatTakesSomething) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kMessages);
  for (int i = 0; i < 2000; ++i) writer.Write(kLine + "\n");
  auto all = std::async(std::launch::async, [&] { return pipe.ReadAll(); });
  EXPECT_TRUE(writer.Settle({.idle = seconds(30), .total = seconds(60)}).ok());
  EXPECT_EQ(all.get().size(), 2000 * (kLine.size() + 1));
}

TEST(OutputWriterTest, AFailedWriteIsTheStatusAndKeepsNobody) {
  Pipe pipe;
  pipe.CloseReader();
  OutputWriter writer(pipe.write_end(), OutputKind::kResults);
  WriteManyLines(writer);
  EXPECT_THAT(writer.Settle(kLong).message(), HasSubstr("Broken pipe"));
}

// Whoever opened it may have made it so, for all who share it.
TEST(OutputWriterTest, WaitsForRoomInAPipeThatDoesNotBlock) {
  Pipe pipe;
  fcntl(pipe.write_end(), F_SETFL, O_NONBLOCK);
  OutputWriter writer(pipe.write_end(), OutputKind::kResults);
  WriteManyLines(writer);
  auto all = std::async(std::launch::async, [&] { return pipe.ReadAll(); });
  EXPECT_TRUE(writer.Settle(kLong).ok());
  EXPECT_EQ(std::ranges::count(all.get(), '\n'), kManyLines);
}

TEST(OutputBufferTest, HandsOnWholeLinesAndTheRestAtAFlush) {
  Pipe pipe;
  OutputWriter writer(pipe.write_end(), OutputKind::kMessages);
  OutputBuffer buffer(writer);
  std::ostream stream(&buffer);
  stream << "a line\nand " << 'a';
  EXPECT_TRUE(writer.Settle(kLong).ok());
  EXPECT_EQ(pipe.ReadAll(), "a line\n");
  stream << " half" << std::flush;
  EXPECT_TRUE(writer.Settle(kLong).ok());
  EXPECT_EQ(pipe.ReadAll(), "and a half");
}

}  // namespace
}  // namespace gauntlet
