#include "engine/real/network/grpc_network.h"

#include <thread>

#include <gtest/gtest.h>

#include "engine/real/network/tcp_socket.h"
#include "tests/engine/real/test_process.h"
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
using std::chrono::milliseconds;
using std::chrono::seconds;

// An address that nothing else uses during its lifetime.
struct Place {
  ReservedPort port = *ReservePort("127.0.0.1");
  std::string address = fmt::format("127.0.0.1:{}", port.port);
};

struct Pair {
  std::unique_ptr<Channel> caller;
  std::unique_ptr<Channel> called;
};

Pair Connected(Network& network, Listener& listener,
               const std::string& address) {
  auto caller = network.Connect(address, Soon());
  CHECK(caller.ok() && (*caller)->Send("first", Soon()).ok(), "no connection");
  auto called = listener.Accept(Soon());
  CHECK(called.ok() && called->first == "first", "no caller");
  return {.caller = *std::move(caller), .called = std::move(called->channel)};
}

// Accepts a caller and drops its first frame. Returns the channel.
std::unique_ptr<Channel> AcceptFrom(Listener& listener) {
  Result<Incoming> incoming = listener.Accept(Soon());
  CHECK(incoming.ok(), incoming.status().ToString());
  return std::move(incoming->channel);
}

// A network with a listener and a connection to itself.
class GrpcNetworkTest : public testing::Test {
 protected:
  Place place_;
  GrpcNetwork network_;
  std::unique_ptr<Listener> listener_ =
      std::move(network_.Listen(place_.address)).value();
};

TEST_F(GrpcNetworkTest, RefusesMalformedAddresses) {
  for (const char* address : {"", "x", "x:", ":5", "127.0.0.1:0", "a:b:c"}) {
    EXPECT_EQ(network_.Listen(address).status().code(), Code::kInvalidArgument);
    EXPECT_EQ(network_.Connect(address, Soon()).status().code(),
              Code::kInvalidArgument);
  }
}

TEST_F(GrpcNetworkTest, AddressInUseByAnotherProcessIsTaken) {
  TestProcess other({"listen", place_.address});
  EXPECT_EQ(other.ReadLine().substr(0, 15), "ALREADY_EXISTS:");
}

TEST_F(GrpcNetworkTest, AddressIsFreeOnceItsListenerIsGone) {
  Pair pair = Connected(network_, *listener_, place_.address);
  for (int i = 0; i < 20; ++i) {
    listener_.reset();
    auto listener = network_.Listen(place_.address);
    ASSERT_TRUE(listener.ok()) << listener.status().ToString();
    listener_ = *std::move(listener);
  }
  ASSERT_TRUE(pair.caller->Send("still here", Soon()).ok());
  EXPECT_EQ(*pair.called->Receive(Soon()), "still here");
}

TEST_F(GrpcNetworkTest, ConnectionThatNobodyAcceptedBreaksWithTheListener) {
  const auto caller = *network_.Connect(place_.address, Soon());
  listener_.reset();
  EXPECT_EQ(caller->Receive(Soon()).status().code(), Code::kUnavailable);
}

TEST_F(GrpcNetworkTest, ConnectsToAListenerThatComesLater) {
  listener_.reset();
  std::unique_ptr<Channel> caller;
  std::thread connecting([&] {
    caller = std::move(network_.Connect(place_.address, Soon())).value();
    EXPECT_TRUE(caller->Send("first", Soon()).ok());
  });
  const auto early = network_.Connect(place_.address, In(milliseconds(150)));
  EXPECT_EQ(early.status().code(), Code::kDeadlineExceeded);
  listener_ = std::move(network_.Listen(place_.address)).value();
  EXPECT_TRUE(listener_->Accept(Soon()).ok());
  connecting.join();
  EXPECT_NE(caller, nullptr);
}

TEST_F(GrpcNetworkTest, ConnectsThroughListenersThatComeAndGo) {
  std::unique_ptr<Channel> caller;
  std::thread connecting([&] {
    caller = std::move(network_.Connect(place_.address, Soon())).value();
  });
  for (int i = 0; i < 50; ++i) {
    listener_.reset();
    listener_ = std::move(network_.Listen(place_.address)).value();
  }
  connecting.join();
  EXPECT_NE(caller, nullptr);
}

TEST_F(GrpcNetworkTest, CarriesLargeFramesBothWaysAtOnce) {
  Pair pair = Connected(network_, *listener_, place_.address);
  constexpr int kFrames = 30;
  const auto send = [](Channel& channel) {
    for (int i = 0; i < kFrames; ++i) {
      Frame frame(4 * kMiB, static_cast<char>('a' + i % 26));
      ASSERT_TRUE(channel.Send(std::move(frame), Soon()).ok());
    }
  };
  const auto receive = [](Channel& channel) {
    for (int i = 0; i < kFrames; ++i) {
      const auto frame = channel.Receive(Soon());
      ASSERT_EQ(*frame, Frame(4 * kMiB, static_cast<char>('a' + i % 26)));
    }
  };
  std::thread threads[] = {
      std::thread([&] { send(*pair.caller); }),
      std::thread([&] { send(*pair.called); }),
      std::thread([&] { receive(*pair.caller); }),
      std::thread([&] { receive(*pair.called); }),
  };
  for (std::thread& thread : threads) thread.join();
}

TEST_F(GrpcNetworkTest, CarriesEmptyAndOddFramesInOrder) {
  Pair pair = Connected(network_, *listener_, place_.address);
  const std::vector<Frame> frames = {"",
                                     Frame(1, '\0'),
                                     Frame(4096, 'a'),
                                     Frame(4097, 'b'),
                                     "",
                                     Frame(kMaxFrameBytes, 'c'),
                                     "\x0a"};
  for (const Frame& frame : frames) {
    ASSERT_TRUE(pair.caller->Send(frame, Soon()).ok());
  }
  for (const Frame& frame : frames) {
    ASSERT_EQ(*pair.called->Receive(Soon()), frame);
  }
}

TEST_F(GrpcNetworkTest, RefusesAFrameThatIsTooLargeAndContinues) {
  Pair pair = Connected(network_, *listener_, place_.address);
  EXPECT_EQ(pair.caller->Send(Frame(kMaxFrameBytes + 1, 'x'), Soon()).code(),
            Code::kInvalidArgument);
  ASSERT_TRUE(pair.caller->Send("small", Soon()).ok());
  EXPECT_EQ(*pair.called->Receive(Soon()), "small");
}

TEST_F(GrpcNetworkTest, SendWaitsForRoomAndContinuesWhenThereIs) {
  Pair pair = Connected(network_, *listener_, place_.address);
  Status status = OkStatus();
  size_t sent = 0;
  while (status.ok()) {
    ASSERT_LE(sent * 4 * kMiB, 3 * kMaxBytesInFlight) << "no bound";
    status = pair.caller->Send(Frame(4 * kMiB, 'x'), In(milliseconds(500)));
    if (status.ok()) ++sent;
  }
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  for (size_t i = 0; i < sent; ++i) {
    ASSERT_TRUE(pair.called->Receive(Soon()).ok());
  }
  EXPECT_TRUE(pair.caller->Send("again", Soon()).ok());
  EXPECT_EQ(*pair.called->Receive(Soon()), "again");
}

TEST_F(GrpcNetworkTest, FramesSentBeforeACloseArriveFromEitherEnd) {
  for (const bool caller_closes : {true, false}) {
    Pair pair = Connected(network_, *listener_, place_.address);
    Channel& closing = caller_closes ? *pair.caller : *pair.called;
    Channel& other = caller_closes ? *pair.called : *pair.caller;
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(closing.Send(Frame(kMiB, 'x'), Soon()).ok());
    }
    closing.Close();
    EXPECT_EQ(closing.Send("late", Soon()).code(), Code::kUnavailable);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(other.Receive(Soon()).ok()) << i;
    EXPECT_EQ(other.Receive(Soon()).status().code(), Code::kUnavailable);
    EXPECT_EQ(other.Send("late", Soon()).code(), Code::kUnavailable);
  }
}

TEST_F(GrpcNetworkTest, ErrorAfterAClose_NamesTheSideThatClosed) {
  const Pair pair = Connected(network_, *listener_, place_.address);
  pair.caller->Close();
  const Status sent = pair.caller->Send("late", Soon());
  EXPECT_NE(sent.message().find("this side closed the connection"),
            std::string::npos)
      << sent.message();
}

TEST_F(GrpcNetworkTest, ManyChannelsAreIndependent) {
  std::vector<Pair> pairs;
  for (int i = 0; i < 64; ++i) {
    pairs.push_back(Connected(network_, *listener_, place_.address));
  }
  for (size_t i = 0; i < pairs.size(); i += 2) pairs[i].caller.reset();
  for (size_t i = 1; i < pairs.size(); i += 2) {
    ASSERT_TRUE(pairs[i].caller->Send(std::to_string(i), Soon()).ok());
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto frame = pairs[i].called->Receive(Soon());
    EXPECT_EQ(frame.ok() ? *frame : "lost", i % 2 ? std::to_string(i) : "lost");
  }
}

TEST_F(GrpcNetworkTest, ProcessKilledInTheMiddleOfAFrameIsLostAtOnce) {
  TestProcess other({"connect", place_.address, "flood"});
  const auto channel = AcceptFrom(*listener_);
  ASSERT_TRUE(channel->Receive(Soon()).ok());
  other.Kill();
  const Time killed = SystemClock().Now();
  Result<Frame> frame = Frame();
  while (frame.ok()) {
    frame = channel->Receive(Soon());
    ASSERT_EQ(frame.ok() ? frame->size() : 4 * kMiB, 4 * kMiB);
  }
  EXPECT_EQ(frame.status().code(), Code::kUnavailable);
  EXPECT_LT(SystemClock().Now() - killed, seconds(5));
}

TEST_F(GrpcNetworkTest, SendThatWaitsWakesWhenTheOtherProcessIsKilled) {
  TestProcess other({"connect", place_.address, "idle"});
  const auto channel = AcceptFrom(*listener_);
  ASSERT_EQ(other.ReadLine(), "connected");
  other.Send(SIGSTOP);
  Status status = OkStatus();
  while (status.ok()) {
    status = channel->Send(Frame(4 * kMiB, 'x'), In(milliseconds(200)));
  }
  ASSERT_EQ(status.code(), Code::kDeadlineExceeded);
  std::thread killing([&] { other.Send(SIGKILL); });
  EXPECT_EQ(channel->Send("more", Soon()).code(), Code::kUnavailable);
  killing.join();
}

TEST_F(GrpcNetworkTest, StoppedProcessHoldsUpNobodysDestructor) {
  TestProcess other({"connect", place_.address, "idle"});
  GrpcNetwork network;
  const Place second;
  auto listener = *network.Listen(second.address);
  TestProcess stopped({"connect", second.address, "idle"});
  auto channel = AcceptFrom(*listener);
  stopped.Send(SIGSTOP);
  while (channel->Send(Frame(4 * kMiB, 'x'), In(milliseconds(100))).ok()) {
  }
  const Time begin = SystemClock().Now();
  channel.reset();
  listener.reset();
  EXPECT_LT(SystemClock().Now() - begin, seconds(5));
}

TEST_F(GrpcNetworkTest, NetworkIsDestroyedThoughTheOtherEndHangs) {
  const Place second;
  auto network = std::make_unique<GrpcNetwork>();
  auto listener = *network->Listen(second.address);
  TestProcess stopped({"connect", second.address, "idle"});
  auto channel = AcceptFrom(*listener);
  stopped.Send(SIGSTOP);
  while (channel->Send(Frame(4 * kMiB, 'x'), In(milliseconds(100))).ok()) {
  }
  const Time begin = SystemClock().Now();
  listener.reset();
  network.reset();
  EXPECT_LT(SystemClock().Now() - begin, GrpcNetwork::kLinger + seconds(5));
  EXPECT_EQ(channel->Receive(Soon()).status().code(), Code::kUnavailable);
}

// Each network is the only user of gRPC in the process, so that gRPC's threads
// end with it. Fails only by a crash or a hang.
TEST(GrpcNetworkLifeTest, NetworksAreDestroyedWhileTheirStreamsEnd) {
  for (int i = 0; i < 200; ++i) {
    const Place place;
    GrpcNetwork network;
    const auto listener = *network.Listen(place.address);
    Pair pair = Connected(network, *listener, place.address);
    if (i % 2 == 0) pair.called.reset();
    pair.caller.reset();
  }
}

TEST_F(GrpcNetworkTest, StoppedListenerIsNoConnection) {
  const Place second;
  TestProcess stopped({"listen", second.address});
  ASSERT_EQ(stopped.ReadLine(), "listening");
  stopped.Send(SIGSTOP);
  EXPECT_EQ(
      network_.Connect(second.address, In(milliseconds(300))).status().code(),
      Code::kDeadlineExceeded);
}

TEST_F(GrpcNetworkTest, StrangersOnThePortDoNoHarm) {
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.sin_port = htons(static_cast<uint16_t>(place_.port.port));
  for (const std::string& text :
       {std::string(), std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff"),
        std::string(100000, '\xff')}) {
    const Descriptor stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(stranger.get(), reinterpret_cast<sockaddr*>(&place),
                      sizeof(place)),
              0);
    send(stranger.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  const Pair pair = Connected(network_, *listener_, place_.address);
  EXPECT_TRUE(pair.caller->Send("hello", Soon()).ok());
  EXPECT_EQ(*pair.called->Receive(Soon()), "hello");
}

TEST_F(GrpcNetworkTest, ConnectTimesOut_OnAPortOfAnotherProtocol) {
  const Place second;
  const Descriptor mute = *ListenOn(second.address);
  EXPECT_EQ(
      network_.Connect(second.address, In(milliseconds(300))).status().code(),
      Code::kDeadlineExceeded);
}

TEST_F(GrpcNetworkTest, TwoProcessesAnswerEachOther) {
  TestProcess other({"connect", place_.address, "echo"});
  const auto channel = AcceptFrom(*listener_);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(channel->Send(std::to_string(i), Soon()).ok());
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(*channel->Receive(Soon()), std::to_string(i));
  }
  channel->Close();
  EXPECT_EQ(other.Await().code, 0);
}

}  // namespace
}  // namespace gauntlet
