#include "engine/cluster/link/numbered_channel.h"

#include <deque>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "chaos/sim/simulation.h"
#include "engine/cluster/link/chunk_format.h"
#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/link.pb.h"

namespace gauntlet {
namespace {

Frame Numbered(uint64_t number, Frame frame) {
  AppendFrameNumber(number, frame);
  return frame;
}

// A channel that receives the frames of `says`, and stores sent ones in `sent`.
class Scripted final : public Channel {
 public:
  Scripted(std::deque<Frame> says, std::vector<Frame>& sent)
      : says_(std::move(says)), sent_(sent) {}
  Status Send(Frame frame, Time deadline) override {
    if (deadline == Time()) return DeadlineExceeded("full");
    sent_.push_back(std::move(frame));
    return OkStatus();
  }
  Result<Frame> Receive(Time) override {
    if (says_.empty()) return DeadlineExceeded("nothing more");
    Frame frame = std::move(says_.front());
    says_.pop_front();
    return frame;
  }
  void Close() override {}
  const Nonce& nonce() const override { return nonce_; }

 private:
  std::deque<Frame> says_;
  std::vector<Frame>& sent_;
  Nonce nonce_{};
};

// The frames that a numbered channel returns, and the code of its end.
struct Received {
  std::vector<Frame> frames;
  Code end = Code::kOk;
};
Received ReceiveAll(std::deque<Frame> says, LinkEnd end = LinkEnd::kClient) {
  Received received;
  FiberPool pool;
  Simulation simulation(pool, {.seed = 1});
  simulation.Start({.name = "w", .host = "w", .body = [&](World& world) {
                      std::vector<Frame> sent;
                      const auto channel = NumberFrames(
                          world.tasks, end,
                          std::make_unique<Scripted>(std::move(says), sent));
                      while (true) {
                        Result<Frame> frame = channel->Receive(kNever);
                        received.end = frame.status().code();
                        if (!frame.ok()) return 0;
                        received.frames.push_back(*std::move(frame));
                      }
                    }});
  simulation.Run();
  return received;
}

RC_GTEST_PROP(NumberedChannelTest, HandsOutEachFrameOnceWhateverIsRepeated,
              ()) {
  const auto frames = *rc::gen::arbitrary<std::vector<std::string>>();
  std::deque<Frame> says;
  for (size_t i = 0; i < frames.size(); ++i) {
    says.push_back(Numbered(i, frames[i]));
    // Adds copies of any frames that have been added by now.
    const auto copies = *rc::gen::container<std::vector<size_t>>(
        rc::gen::inRange<size_t>(0, i + 1));
    for (const size_t copy : copies) {
      says.push_back(Numbered(copy, frames[copy]));
    }
  }
  const Received received = ReceiveAll(std::move(says));
  RC_ASSERT(received.frames == frames);
  RC_ASSERT(received.end == Code::kDeadlineExceeded);
}

TEST(NumberedChannelTest, MissingFrameEndsTheConnection) {
  const Received received =
      ReceiveAll({Numbered(0, "a"), Numbered(2, "c"), Numbered(1, "b")});
  EXPECT_EQ(received.frames, std::vector<Frame>{"a"});
  EXPECT_EQ(received.end, Code::kUnavailable);
}

TEST(NumberedChannelTest, FrameWithoutANumberEndsTheConnection) {
  for (const Frame& frame : {Frame(), Frame("short"), Frame(100, 'x'),
                             EncodeControl(Beat{.rank = 1, .generation = 1})}) {
    EXPECT_EQ(ReceiveAll({frame}).end, Code::kUnavailable);
  }
}

TEST(NumberedChannelTest, ServerHasReceivedTheFirstFrame) {
  const Received received =
      ReceiveAll({Numbered(0, "hello"), Numbered(1, "a")}, LinkEnd::kServer);
  EXPECT_EQ(received.frames, std::vector<Frame>{"a"});
}

TEST(NumberedChannelTest, FrameThatWasNotSentTakesNoNumber) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 1});
  std::vector<Frame> sent;
  simulation.Start({.name = "w", .host = "w", .body = [&](World& world) {
                      const auto channel =
                          NumberFrames(world.tasks, LinkEnd::kClient,
                                       std::make_unique<Scripted>(
                                           std::deque<Frame>(), sent));
                      EXPECT_TRUE(channel->Send("a", kNever).ok());
                      EXPECT_FALSE(channel->Send("b", Time()).ok());
                      EXPECT_TRUE(channel->Send("b", kNever).ok());
                      return 0;
                    }});
  simulation.Run();
  EXPECT_EQ(sent, (std::vector<Frame>{Numbered(0, "a"), Numbered(1, "b")}));
}

TEST(NumberedChannelTest, NumberIsAFieldOfTheMessage) {
  for (const Frame& frame : {EncodeControl(Beat{.rank = 1, .generation = 3}),
                             EncodeChunk({.kind = ChunkKind::kTotal}, "x")}) {
    wire::Frame parsed;
    ASSERT_TRUE(parsed.ParseFromString(Numbered(1'234'567'890'123, frame)));
    EXPECT_EQ(parsed.number(), 1'234'567'890'123u);
  }
  Frame beat = Numbered(7, EncodeControl(Beat{.rank = 1}));
  EXPECT_TRUE(DecodeControl(beat).ok());
  EXPECT_EQ(TakeFrameNumber(beat), 7u);
  EXPECT_EQ(beat, EncodeControl(Beat{.rank = 1}));
}

}  // namespace
}  // namespace gauntlet
