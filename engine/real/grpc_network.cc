#include "engine/real/grpc_network.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <grpc/support/log.h>

#include "engine/last_words.h"
#include "engine/real/descriptor.h"
#include "engine/real/grpc_link.h"
#include "engine/real/grpc_streams.h"
#include "engine/real/posix_status.h"
#include "engine/real/tcp_socket.h"
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

// gRPC's threads log where they are: they must not wait for who reads that.
void LogUnlessBlocked(gpr_log_func_args* message) {
  WriteUnlessBlocked(fmt::format("grpc: {}:{}: {}\n", message->file,
                                 message->line, message->message));
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

 private:
  const std::shared_ptr<Link> link_;
};

// Connections that wait for Accept.
class Backlog {
 public:
  // False once closed.
  bool Push(std::shared_ptr<Link> link) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    links_.push_back(std::move(link));
    ready_.notify_one();
    return true;
  }

  std::shared_ptr<Link> Pop(Time deadline) {
    std::unique_lock lock(mutex_);
    const auto come = [this] { return !links_.empty(); };
    if (deadline == kNever) {
      ready_.wait(lock, come);
    } else if (!ready_.wait_until(lock, ToSteady(deadline), come)) {
      return nullptr;
    }
    std::shared_ptr<Link> link = std::move(links_.front());
    links_.pop_front();
    return link;
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const auto& link : links_) link->Close();
    links_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::shared_ptr<Link>> links_;
  bool closed_ = false;
};

// What stands behind an address: lives on after its listener, for the channels
// that were accepted.
struct LinkServer {
  LinkServer(LinkRegistry& registry, const std::string& address)
      : streams(registry, address, [this](std::shared_ptr<Link> link) {
          return backlog.Push(std::move(link));
        }) {}

  Backlog backlog;
  StreamServer streams;
};

// A listening socket, and the thread that hands its connections to a server.
class Acceptor {
 public:
  Acceptor(Descriptor socket, StreamServer& server)
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
      pollfd waits[] = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                        {.fd = socket_.get(), .events = POLLIN, .revents = 0}};
      poll(waits, 2, -1);
      if (waits[0].revents != 0) return;
      Descriptor connection(accept4(socket_.get(), nullptr, nullptr,
                                    SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (connection.valid()) {
        const int on = 1;
        setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        server_.Serve(std::move(connection));
      } else if (errno == EMFILE || errno == ENFILE) {
        poll(waits, 1, kAcceptRetryMs);  // until others close some
      }
    }
  }

  const Descriptor socket_;
  const Descriptor stop_;
  StreamServer& server_;
  std::thread thread_;
};

class GrpcListener final : public Listener {
 public:
  GrpcListener(std::string address, Descriptor socket, LinkServer& server)
      : address_(std::move(address)),
        backlog_(server.backlog),
        acceptor_(std::move(socket), server.streams) {}
  ~GrpcListener() override { backlog_.Close(); }
  GrpcListener(const GrpcListener&) = delete;
  GrpcListener& operator=(const GrpcListener&) = delete;

  Result<std::unique_ptr<Channel>> Accept(Time deadline) override {
    std::shared_ptr<Link> link = backlog_.Pop(deadline);
    if (link == nullptr) {
      return DeadlineExceeded(address_ + ": accept: nobody connected");
    }
    return std::unique_ptr<Channel>(
        std::make_unique<LinkChannel>(std::move(link)));
  }

 private:
  const std::string address_;
  Backlog& backlog_;
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
  LinkRegistry registry;
  std::mutex mutex;
  std::vector<std::unique_ptr<LinkServer>> servers;
};

GrpcNetwork::GrpcNetwork() : state_(std::make_unique<State>()) {
  gpr_set_log_function(LogUnlessBlocked);
}

GrpcNetwork::~GrpcNetwork() {
  state_->registry.Shutdown(kLinger);
  state_->registry.FreeGone();
  state_->servers.clear();
}

Result<std::unique_ptr<Listener>> GrpcNetwork::Listen(
    const std::string& address) {
  state_->registry.FreeGone();
  ASSIGN_OR_RETURN(Descriptor socket, ListenOn(address));
  auto owned = std::make_unique<LinkServer>(state_->registry, address);
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
    const auto link = StartConnecting(state_->registry, address, target);
    if (link == nullptr) return Unavailable(address + ": network is down");
    while (true) {
      const auto now = std::chrono::steady_clock::now();
      const auto state = link->AwaitHello(std::min(end, now + kRetryEvery));
      if (state == ConnectingLink::State::kConnected) {
        return std::unique_ptr<Channel>(std::make_unique<LinkChannel>(link));
      }
      if (now >= end) {
        link->Abort();
        return DeadlineExceeded(address + ": connect: nobody answered in time");
      }
      if (state == ConnectingLink::State::kFailed) break;
      link->Hurry();
    }
    link->Abort();
    std::this_thread::sleep_until(
        std::min(end, std::chrono::steady_clock::now() + kRetryEvery));
  }
}

}  // namespace gauntlet
