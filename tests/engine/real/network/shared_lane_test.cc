#include "engine/real/network/shared_lane.h"

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "engine/real/network/grpc_network.h"
#include "engine/real/network/tcp_socket.h"
#include "tests/engine/real/network/lanes_of_process.h"
#include "tests/engine/real/test_process.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;

Nonce NonceOf(int value) {
  Nonce nonce;
  nonce.fill(static_cast<std::byte>(value));
  return nonce;
}

// Both ends of a lane, in one process.
class SharedLaneTest : public testing::Test {
 protected:
  const std::unique_ptr<SharedLane> reader_ =
      SharedLane::Create(NonceOf(1)).value();
  const std::unique_ptr<SharedLane> writer_ =
      SharedLane::Open(reader_->offer(), NonceOf(1)).value();
};

// Frames of odd sizes, so that records end at all places of the memory.
// Together they are six times as large as the lane.
TEST_F(SharedLaneTest, CarriesFramesInOrder_PastTheEndOfItsMemory) {
  constexpr int kFrames = 400;
  const auto frame = [](int i) {
    const size_t size = static_cast<size_t>(i) * 7919 % 250'000;
    return Frame(size, static_cast<char>(i));
  };
  std::thread writing([&] {
    for (int i = 0; i < kFrames; ++i) {
      ASSERT_TRUE(writer_->Write(frame(i), Soon()).ok());
    }
  });
  for (int i = 0; i < kFrames; ++i) {
    ASSERT_TRUE(*reader_->Read(Soon()) == frame(i)) << i;
  }
  writing.join();
}

TEST_F(SharedLaneTest, CarriesTheLargestFrame_FromEachPlace) {
  const Frame largest(kMaxFrameBytes, 'x');
  for (int i = 0; i < 20; ++i) {
    for (const Frame& frame : {Frame(100'000, 'y'), largest}) {
      ASSERT_TRUE(writer_->Write(frame, Soon()).ok());
      ASSERT_TRUE(*reader_->Read(Soon()) == frame);
    }
  }
}

TEST_F(SharedLaneTest, WriterWaitsForRoom_AndLosesNothing) {
  int taken = 0;
  Status status = OkStatus();
  while (status.ok()) {
    ASSERT_LT(taken, 100) << "no bound";
    status = writer_->Write(Frame(size_t{1} << 20, 'x'), In(milliseconds(50)));
    if (status.ok()) ++taken;
  }
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "the other worker took no frame in time");
  for (int i = 0; i < taken; ++i) ASSERT_TRUE(reader_->Read(Soon()).ok());
  ASSERT_TRUE(writer_->Write("again", Soon()).ok());
  EXPECT_EQ(*reader_->Read(Soon()), "again");
}

TEST_F(SharedLaneTest, ReadGivesUpAtItsDeadline) {
  const Status status = reader_->Read(In(milliseconds(20))).status();
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "no frame came in time");
}

TEST_F(SharedLaneTest, BreakWakesAReaderThatSleeps) {
  std::thread breaking([&] {
    std::this_thread::sleep_for(milliseconds(20));
    reader_->Break();
  });
  EXPECT_EQ(reader_->Read(kNever).status().code(), Code::kUnavailable);
  breaking.join();
}

TEST_F(SharedLaneTest, DeliversFramesThatPrecedeTheBreak) {
  ASSERT_TRUE(writer_->Write("last", Soon()).ok());
  reader_->Break();
  EXPECT_EQ(*reader_->Read(Soon()), "last");
  EXPECT_EQ(reader_->Read(Soon()).status().code(), Code::kUnavailable);
}

TEST_F(SharedLaneTest, OpensNothingButTheMemoryOfItsConnection) {
  const LaneOffer offer = reader_->offer();
  EXPECT_FALSE(SharedLane::Open(offer, NonceOf(2)).ok());
  EXPECT_FALSE(
      SharedLane::Open({.process = offer.process, .descriptor = 0}, NonceOf(1))
          .ok());
  EXPECT_FALSE(SharedLane::Open({.process = 1, .descriptor = offer.descriptor},
                                NonceOf(1))
                   .ok());
}

// If the owner truncated such a file, a signal would end this process.
TEST_F(SharedLaneTest, RefusesUnsealedMemory) {
  std::string name = "gauntlet-lane-";
  for (size_t i = 0; i < kNonceBytes; ++i) name += "01";
  const Descriptor file(memfd_create(name.c_str(), MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), SharedLane::kCapacity + 4096), 0);
  const LaneOffer offer = {.process = static_cast<uint64_t>(getpid()),
                           .descriptor = static_cast<uint32_t>(file.get())};
  EXPECT_EQ(SharedLane::Open(offer, NonceOf(1)).status().code(),
            Code::kNotFound);
}

TEST_F(SharedLaneTest, ReportsARecordThatIsNoFrame) {
  const Descriptor file(
      open(fmt::format("/proc/self/fd/{}", reader_->offer().descriptor).c_str(),
           O_RDWR | O_CLOEXEC));
  const uint32_t size = kMaxFrameBytes + 1;
  const uint32_t written = 16;
  ASSERT_EQ(pwrite(file.get(), &size, sizeof size, 4096), 4);
  ASSERT_EQ(pwrite(file.get(), &written, sizeof written, 0), 4);
  EXPECT_EQ(reader_->Read(Soon()).status().code(), Code::kDataLoss);
}

// A neighbour in a ring, on this host but in another process.
class RingNeighbourTest : public testing::Test {
 protected:
  std::unique_ptr<Channel> AcceptFirst() {
    return std::move(listener_->Accept(Soon()).value().channel);
  }

  const ReservedPort port_ = *ReservePort("127.0.0.1");
  const std::string address_ = fmt::format("127.0.0.1:{}", port_.port);
  GrpcNetwork network_;
  const std::unique_ptr<Listener> listener_ =
      std::move(network_.Listen(address_)).value();
};

TEST_F(RingNeighbourTest, IsLostAtOnce_WhenKilledWhileItWrites) {
  TestProcess other({"connect", address_, "flood", "ring"});
  const auto channel = AcceptFirst();
  AwaitLanes(other.pid(), 1);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(channel->Receive(Soon()).ok());
  other.Kill();
  const Time killed = SystemClock().Now();
  Result<Frame> frame = Frame();
  while (frame.ok()) {
    frame = channel->Receive(Soon());
    ASSERT_EQ(frame.ok() ? frame->size() : kMaxFrameBytes, kMaxFrameBytes);
  }
  EXPECT_EQ(frame.status().code(), Code::kUnavailable);
  EXPECT_LT(SystemClock().Now() - killed, std::chrono::seconds(5));
}

TEST_F(RingNeighbourTest, IsWaitedFor_WhileItIsStopped) {
  TestProcess other({"connect", address_, "flood", "ring"});
  const auto channel = AcceptFirst();
  AwaitLanes(other.pid(), 1);
  other.Send(SIGSTOP);
  Result<Frame> frame = Frame();
  while (frame.ok()) frame = channel->Receive(In(milliseconds(100)));
  EXPECT_EQ(frame.status().code(), Code::kDeadlineExceeded);
  other.Send(SIGCONT);
  EXPECT_TRUE(channel->Receive(Soon()).ok());
}

TEST_F(RingNeighbourTest, ControlConnectionHasNoLane) {
  TestProcess other({"connect", address_, "flood", "control"});
  const auto channel = AcceptFirst();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(channel->Receive(Soon()).ok());
  EXPECT_EQ(LanesOf(getpid()), 0);
  EXPECT_EQ(LanesOf(other.pid()), 0);
}

}  // namespace
}  // namespace gauntlet
