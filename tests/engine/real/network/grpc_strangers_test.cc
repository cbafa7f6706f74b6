// Programs other than workers that connect to a listener: limited in number, in
// time and in bytes.
#include <filesystem>
#include <thread>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "engine/real/network/grpc_network.h"
#include "engine/real/network/pending_connections.h"
#include "engine/real/network/tcp_socket.h"
#include "engine/real/posix/system_clock.h"
#include "tests/engine/real/test_process.h"
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kOpen[] = "/gauntlet.wire.Link/Open";

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// Returns a plain gRPC connection.
std::shared_ptr<grpc::Channel> TransportTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(
      "ipv4:" + address, grpc::InsecureChannelCredentials(), arguments);
}

// Returns how a call of that method ends.
grpc::StatusCode Call(const std::shared_ptr<grpc::Channel>& transport,
                      const std::string& method, Duration patience) {
  grpc::GenericStub stub(transport);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + patience);
  grpc::ByteBuffer answer;
  grpc::CompletionQueue queue;
  const auto call =
      stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(), &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status.error_code();
}

class GrpcStrangersTest : public testing::Test {
 protected:
  // Opens a TCP connection to the listener, and sends nothing.
  Descriptor ConnectInSilence() const {
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    place.sin_port = htons(static_cast<uint16_t>(port_.port));
    Descriptor caller(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    CHECK(connect(caller.get(), reinterpret_cast<sockaddr*>(&place),
                  sizeof place) == 0,
          "nobody listens");
    return caller;
  }

  ReservedPort port_ = *ReservePort("127.0.0.1");
  std::string address_ = fmt::format("127.0.0.1:{}", port_.port);
  GrpcNetwork network_;
  std::unique_ptr<Listener> listener_ =
      std::move(network_.Listen(address_)).value();
};

TEST_F(GrpcStrangersTest, RefusesUnknownMethods) {
  for (const char* method :
       {"/grpc.health.v1.Health/Check", "/gauntlet.wire.Link/Close", "/x/y"}) {
    EXPECT_EQ(Call(TransportTo(address_), method, seconds(20)),
              grpc::StatusCode::UNIMPLEMENTED)
        << method;
  }
}

TEST_F(GrpcStrangersTest, ConnectionHasOneStreamAtATime) {
  const auto transport = TransportTo(address_);
  grpc::GenericStub stub(transport);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto first = stub.PrepareCall(&context, kOpen, &queue);
  first->StartCall(nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
  EXPECT_EQ(Call(transport, kOpen, milliseconds(500)),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  context.TryCancel();
  grpc::Status status;
  first->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
}

TEST_F(GrpcStrangersTest, DisconnectsACaller_AfterATooLargeFirstFrame) {
  const auto caller = *network_.Connect(address_, Soon());
  ASSERT_TRUE(caller->Send(Frame(kMaxFirstFrameBytes + 1, 'x'), Soon()).ok());
  EXPECT_EQ(caller->Receive(Soon()).status().code(), Code::kUnavailable);
}

TEST_F(GrpcStrangersTest, ManySilentConnectionsUseFewDescriptors) {
  constexpr size_t kCallers = 300;
  const size_t before = OpenDescriptors();
  std::vector<Descriptor> silent;
  for (size_t i = 0; i < kCallers; ++i) silent.push_back(ConnectInSilence());
  // The listener accepts this caller after all silent ones.
  const auto caller = *network_.Connect(address_, Soon());
  ASSERT_TRUE(caller->Send("first", Soon()).ok());
  EXPECT_EQ(listener_->Accept(Soon())->first, "first");
  // The listener has two descriptors per silent caller that it keeps, and some
  // for connections that gRPC has not closed yet.
  EXPECT_LT(OpenDescriptors(), before + kCallers + 4 * kMaxSilentCallers);
  pollfd oldest = {.fd = silent.front().get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&oldest, 1, 10'000), 1) << "it is disconnected";
}

TEST_F(GrpcStrangersTest, CallersThatHangUpLeaveNothingBehind) {
  const size_t before = OpenDescriptors();
  for (int i = 0; i < 200; ++i) static_cast<void>(ConnectInSilence());
  for (int i = 0; i < 20; ++i) {
    const auto caller = network_.Connect(address_, Soon());
    ASSERT_TRUE(caller.ok()) << caller.status().ToString();
  }
  const size_t of_grpc = 20;  // descriptors of gRPC's pollers
  const Time deadline = Soon();
  while (OpenDescriptors() > before + of_grpc &&
         SystemClock().Now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_LE(OpenDescriptors(), before + of_grpc);
}

// A connection as seen by PendingConnections.
struct Connection {
  Connection() {
    int ends[2] = {-1, -1};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
          "socketpair");
    watch = Descriptor(ends[0]);
    other_end = Descriptor(ends[1]);
  }
  bool is_disconnected() const {
    pollfd wait = {.fd = other_end.get(), .events = POLLRDHUP, .revents = 0};
    return poll(&wait, 1, 0) == 1;
  }
  Descriptor watch;
  Descriptor other_end;
};

TEST(CallersTest, DisconnectsSilentCallers) {
  PendingConnections pending(nullptr);
  Connection connection;
  pending.AddConnection("peer", std::move(connection.watch));
  const auto now = std::chrono::steady_clock::now();
  const PendingConnections::AcceptState state = pending.DisconnectExpired(now);
  EXPECT_EQ(state.watched.size(), 1u);
  EXPECT_LE(state.next_check, now + kMaxSilence);
  pending.DisconnectExpired(now + kMaxSilence - seconds(1));
  EXPECT_FALSE(connection.is_disconnected());
  EXPECT_TRUE(pending.DisconnectExpired(now + kMaxSilence).watched.empty());
  EXPECT_TRUE(connection.is_disconnected());
}

TEST(CallersTest, StopsAcceptingBriefly_IfTooManyCallersAreSilent) {
  PendingConnections pending(nullptr);
  std::vector<Connection> connections(kMaxSilentCallers + 1);
  const auto now = std::chrono::steady_clock::now();
  for (Connection& connection : connections) {
    pending.AddConnection("peer", std::move(connection.watch));
  }
  const PendingConnections::AcceptState full = pending.DisconnectExpired(now);
  EXPECT_FALSE(full.can_accept);
  EXPECT_FALSE(connections.front().is_disconnected());
  EXPECT_TRUE(pending.DisconnectExpired(full.next_check).can_accept);
  EXPECT_TRUE(connections.front().is_disconnected());
  EXPECT_FALSE(connections[1].is_disconnected());
}

// A stream on which nothing happens.
class IdleLink final : public Link {
 public:
  explicit IdleLink(LinkRegistry& registry) : Link(registry, "idle") {}
  bool MustNotEndInGrpcThread() const override { return false; }

 private:
  void StartReading(grpc::ByteBuffer* /*into*/) override {}
  void StartWriting(const grpc::ByteBuffer* /*from*/) override {}
  void DeclareEnd() override {}
  bool MayReadAfterEnd() const override { return false; }
  void Cancel() override {}
};

// Adds three silent connections more than are kept. The first `streams` of all
// connections have a stream. Returns the indices of those that are
// disconnected, in order.
std::vector<size_t> DisconnectedInTurn(size_t streams) {
  LinkRegistry registry;
  PendingConnections pending(nullptr);
  std::vector<Connection> connections(kMaxSilentCallers + 3);
  for (size_t i = 0; i < connections.size(); ++i) {
    const std::string peer = std::to_string(i);
    pending.AddConnection(peer, std::move(connections[i].watch));
    if (i < streams) {
      EXPECT_TRUE(
          pending.AddStream(peer, std::make_shared<IdleLink>(registry)));
    }
  }
  std::vector<size_t> gone;
  auto now = std::chrono::steady_clock::now();
  while (gone.size() < 3) {
    now += milliseconds(100);
    pending.DisconnectExpired(now);
    for (size_t i = 0; i < connections.size(); ++i) {
      if (connections[i].is_disconnected() &&
          std::ranges::find(gone, i) == gone.end()) {
        gone.push_back(i);
      }
    }
  }
  pending.Close();
  return gone;
}

TEST(CallersTest, DisconnectsCallersWithoutAStreamFirst_IfFewHaveOne) {
  EXPECT_EQ(DisconnectedInTurn(0), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(DisconnectedInTurn(2), (std::vector<size_t>{2, 3, 4}));
  const size_t half = kMaxSilentCallers / 2;
  EXPECT_EQ(DisconnectedInTurn(half),
            (std::vector<size_t>{half, half + 1, half + 2}));
  EXPECT_EQ(DisconnectedInTurn(half + 2),
            (std::vector<size_t>{0, 1, half + 2}));
  EXPECT_EQ(DisconnectedInTurn(kMaxSilentCallers + 3),
            (std::vector<size_t>{0, 1, 2}));
}

TEST(CallersTest, DisconnectsCallersAfterClose) {
  PendingConnections pending(nullptr);
  pending.Close();
  Connection connection;
  pending.AddConnection("peer", std::move(connection.watch));
  EXPECT_TRUE(connection.is_disconnected());
  EXPECT_FALSE(pending.AddStream("peer", nullptr));
}

}  // namespace
}  // namespace gauntlet
