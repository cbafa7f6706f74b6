#include "engine/real/network/grpc_network.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <grpc/support/log.h>

#include "engine/cluster/link/control_messages.h"
#include "engine/nonblocking_stderr.h"
#include "engine/real/network/grpc_link.h"
#include "engine/real/network/grpc_streams.h"
#include "engine/real/network/pending_connections.h"
#include "engine/real/network/tcp_socket.h"
#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/posix_status.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr auto kRetryEvery = std::chrono::milliseconds(5);
constexpr int kAcceptRetryMs = 10;

std::chrono::steady_clock::time_point ToSteady(Time time) {
  return std::chrono::steady_clock::time_point(time.time_since_epoch());
}

// Logs at most one line in ten seconds: strangers can cause any number of
// failed handshakes, and each one logs a line. Drops a line rather than let
// gRPC's threads wait for the log's reader.
void LogNowAndThen(gpr_log_func_args* message) {
  using Seconds = std::chrono::seconds;
  static std::atomic<Seconds::rep> next = 0;  // gRPC passes no state along
  const auto now = std::chrono::duration_cast<Seconds>(
      std::chrono::steady_clock::now().time_since_epoch());
  Seconds::rep due = next;
  if (now.count() < due ||
      !next.compare_exchange_strong(due, now.count() + 10)) {
    return;
  }
  WriteStderrUnlessBlocked(
      fmt::format("gauntlet: gRPC: {}\n", message->message));
}

class LinkChannel final : public Channel {
 public:
  explicit LinkChannel(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  ~LinkChannel() override { link_->Close(); }
  LinkChannel(const LinkChannel&) = delete;
  LinkChannel& operator=(const LinkChannel&) = delete;

  Status Send(Frame frame, Time deadline) override {
    return link_->Send(std::move(frame), deadline);
  }
  Result<Frame> Receive(Time deadline) override {
    return link_->Receive(deadline);
  }
  void Close() override { link_->Close(); }
  const Nonce& nonce() const override { return link_->nonce(); }

 private:
  const std::shared_ptr<Link> link_;
};

// The server for an address. It outlives its listener, as accepted channels use
// it.
struct LinkServer {
  LinkServer(LinkRegistry& registry, const std::string& address,
             ConnectionFilter filter, const TlsCredentials* tls)
      : pending(std::move(filter)), streams(registry, address, pending, tls) {}

  PendingConnections pending;
  StreamServer streams;
};

// Returns the peer's address as gRPC names it: the key of a pending connection.
std::string PeerOf(const sockaddr_storage& address) {
  char host[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host);
    return NormalizePeer(fmt::format("ipv4:{}:{}", host, ntohs(v4.sin_port)));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], host, sizeof host);
    return NormalizePeer(fmt::format("ipv4:{}:{}", host, ntohs(v6.sin6_port)));
  }
  inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host);
  return NormalizePeer(fmt::format("ipv6:[{}]:{}", host, ntohs(v6.sin6_port)));
}

// A listening socket, and the thread that hands its connections to a server.
class Acceptor {
 public:
  Acceptor(Descriptor socket, LinkServer& server)
      : socket_(std::move(socket)),
        stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        server_(server),
        thread_([this] { Run(); }) {}
  ~Acceptor() {
    const uint64_t one = 1;
    CHECK(write(stop_.get(), &one, sizeof(one)) == sizeof(one), "eventfd");
    thread_.join();
  }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

 private:
  void Run() {
    while (true) {
      const PendingConnections::AcceptState state =
          server_.pending.DisconnectExpired(std::chrono::steady_clock::now());
      std::vector<pollfd> waits = {
          {.fd = stop_.get(), .events = POLLIN, .revents = 0},
          {.fd = state.can_accept ? socket_.get() : -1,
           .events = POLLIN,
           .revents = 0}};
      for (const auto& silent : state.watched) {
        waits.push_back(
            {.fd = silent->get(), .events = POLLRDHUP, .revents = 0});
      }
      poll(waits.data(), waits.size(), MillisecondsUntil(state.next_check));
      if (waits[0].revents != 0) return;
      for (size_t i = 0; i < state.watched.size(); ++i) {
        if (waits[i + 2].revents != 0) {
          server_.pending.RemoveClosed(state.watched[i].get());
        }
      }
      if (waits[1].revents != 0) AcceptOne();
    }
  }

  // Returns the timeout for poll: rounded up; -1 for none.
  static int MillisecondsUntil(PendingConnections::SteadyTime time) {
    if (time == PendingConnections::SteadyTime::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        time - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<int64_t>(left.count(), 0));
  }

  void AcceptOne() {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    Descriptor connection(accept4(socket_.get(),
                                  reinterpret_cast<sockaddr*>(&peer), &size,
                                  SOCK_CLOEXEC | SOCK_NONBLOCK));
    Descriptor watch(
        connection.valid() ? fcntl(connection.get(), F_DUPFD_CLOEXEC, 0) : -1);
    if (watch.valid()) {
      const int on = 1;
      setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      server_.pending.AddConnection(PeerOf(peer), std::move(watch));
      server_.streams.Serve(std::move(connection));
    } else if (errno == EMFILE || errno == ENFILE) {
      pollfd wait = {.fd = stop_.get(), .events = POLLIN, .revents = 0};
      poll(&wait, 1, kAcceptRetryMs);  // a pause, in which others may be closed
    }
  }

  const Descriptor socket_;
  const Descriptor stop_;
  LinkServer& server_;
  std::thread thread_;
};

class GrpcListener final : public Listener {
 public:
  GrpcListener(std::string address, Descriptor socket, LinkServer& server)
      : address_(std::move(address)),
        pending_(server.pending),
        acceptor_(std::move(socket), server) {}
  ~GrpcListener() override { pending_.Close(); }
  GrpcListener(const GrpcListener&) = delete;
  GrpcListener& operator=(const GrpcListener&) = delete;

  Result<Incoming> Accept(Time deadline) override {
    while (true) {
      std::shared_ptr<Link> link = pending_.WaitForFirst(deadline);
      if (link == nullptr) {
        return DeadlineExceeded(address_ +
                                ": accept: no worker connected in time");
      }
      Result<Frame> first = link->Receive(kNever);
      if (!first.ok()) continue;  // disconnected meanwhile
      const Result<Hello> hello = DecodeControlAs<Hello>(*first);
      if (hello.ok() && hello->role == ChannelRole::kRing) link->OfferLane();
      link->ResumeReading();
      return Incoming{.channel = std::make_unique<LinkChannel>(std::move(link)),
                      .first = *std::move(first)};
    }
  }

 private:
  const std::string address_;
  PendingConnections& pending_;
  const Acceptor acceptor_;
};

std::string TargetOf(const HostPort& address) {
  switch (address.kind) {
    case HostPort::Kind::kIpv4:
      return fmt::format("ipv4:{}:{}", address.host, address.port);
    case HostPort::Kind::kIpv6:
      return fmt::format("ipv6:[{}]:{}", address.host, address.port);
    case HostPort::Kind::kName:
      return fmt::format("dns:///{}:{}", address.host, address.port);
  }
  CHECK(false, "an unknown kind of address");
}

}  // namespace

struct GrpcNetwork::State {
  std::optional<TlsCredentials> credentials;
  LinkRegistry registry;
  std::mutex mutex;
  std::vector<std::unique_ptr<LinkServer>> servers;

  const TlsCredentials* tls() const {
    return credentials ? &*credentials : nullptr;
  }
};

GrpcNetwork::GrpcNetwork() : state_(std::make_unique<State>()) {
  gpr_set_log_function(LogNowAndThen);
}

GrpcNetwork::~GrpcNetwork() {
  state_->registry.Shutdown(kLinger);
  state_->registry.FreeGone();
  state_->servers.clear();
}

void GrpcNetwork::UseTls(const TlsCredentials& tls) {
  CHECK(state_->servers.empty(), "TLS comes before the first connection");
  state_->credentials = tls;
}

Result<std::unique_ptr<Listener>> GrpcNetwork::Listen(
    const std::string& address, ConnectionFilter filter) {
  state_->registry.FreeGone();
  ASSIGN_OR_RETURN(Descriptor socket, ListenOn(address));
  auto owned = std::make_unique<LinkServer>(state_->registry, address,
                                            std::move(filter), state_->tls());
  LinkServer& server = *owned;
  {
    const std::lock_guard lock(state_->mutex);
    state_->servers.push_back(std::move(owned));
  }
  return std::unique_ptr<Listener>(
      std::make_unique<GrpcListener>(address, std::move(socket), server));
}

Result<std::unique_ptr<Channel>> GrpcNetwork::Connect(
    const std::string& address, Time deadline) {
  state_->registry.FreeGone();
  ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  const std::string target = TargetOf(parsed);
  const auto end = ToSteady(deadline);
  while (true) {
    const auto link =
        StartConnecting(state_->registry, address, target, state_->tls());
    if (link == nullptr) return Unavailable(address + ": network is down");
    while (true) {
      const auto now = std::chrono::steady_clock::now();
      const auto state = link->AwaitChallenge(std::min(end, now + kRetryEvery));
      if (state == ConnectingLink::State::kConnected) {
        return std::unique_ptr<Channel>(std::make_unique<LinkChannel>(link));
      }
      if (now >= end) {
        link->Abort();
        return DeadlineExceeded(
            address + ": connect: nobody answered in time" +
            (state_->tls() == nullptr ? "" : ", or the TLS handshake failed"));
      }
      if (state == ConnectingLink::State::kFailed) break;
      // Does not hurry with TLS: the last attempt may have failed in its
      // handshake. The next handshake would then fail too, and without gRPC's
      // pause between attempts this would repeat every kRetryEvery.
      if (state_->tls() == nullptr) link->Hurry();
    }
    link->Abort();
    std::this_thread::sleep_until(
        std::min(end, std::chrono::steady_clock::now() + kRetryEvery));
  }
}

}  // namespace gauntlet
