// Workers of a job on this machine, whose ports any program can reach.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/link_proofs.h"
#include "engine/cluster/session/session.h"
#include "engine/real/network/tcp_socket.h"
#include "engine/real/real_world.h"
#include "tests/engine/real/test_process.h"
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

constexpr int kWorkers = 3;
constexpr size_t kIdle = 2000;
constexpr uint64_t kLeastSteps = 200;
constexpr uint32_t kStop = 1;  // request to stop: the strangers are done

JobToken Token(char digit) {
  return *JobToken::Parse(std::string(2 * JobToken::kBytes, digit));
}

// Allows descriptors for both ends of all idle connections.
void AllowDescriptors() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  CHECK(limit.rlim_cur > 3 * kIdle, "descriptors");
}

struct Steps {
  Status status = Unavailable("did not run");
  uint64_t count = 0;
  Duration longest{0};
  uint64_t bits = 0;  // hash of all sums
};

// Sums gradients step by step until the strangers are done. The sums depend
// only on the steps, so equal numbers of steps give equal bits. Sets `done` if
// no session forms, as nobody answers the strangers then.
Steps Train(World& world, const Kernels& kernels, const SessionOptions& options,
            std::atomic<bool>& done, std::atomic<int>& formed) {
  Steps steps;
  auto session = Session::Form(world, kernels, options, [](const auto&) {
    return Decision{.generation = 1, .text = "go"};
  });
  ++formed;
  formed.notify_all();
  if (!session.ok()) {
    done = true;
    return {.status = session.status()};
  }
  std::vector<float> local(1000);
  std::vector<float> total(1000);
  uint32_t agreed = 0;
  while (agreed == 0 || steps.count < kLeastSteps) {
    const auto rank = static_cast<float>(options.rank + 1);
    std::ranges::fill(local, rank / static_cast<float>(steps.count + 3));
    Tally tally = {.requests = done ? kStop : 0};
    const std::span<const float> replicas[] = {local};
    const Time begin = world.clock.Now();
    steps.status =
        (*session)->ring().AllReduce({.step = ++steps.count}, replicas, total,
                                     tally, std::chrono::seconds(10));
    if (!steps.status.ok()) break;
    steps.longest = std::max(steps.longest, world.clock.Now() - begin);
    steps.bits = steps.bits * 31 + std::bit_cast<uint32_t>(total.back());
    agreed = tally.requests;
  }
  (*session)->Leave();
  return steps;
}

uint64_t ExpectedBits(uint64_t steps) {
  uint64_t bits = 0;
  for (uint64_t step = 0; step < steps; ++step) {
    float sum = 0;
    for (int rank = 0; rank < kWorkers; ++rank) {
      const float one =
          static_cast<float>(rank + 1) / static_cast<float>(step + 3);
      sum = rank == 0 ? one : sum + one;
    }
    bits = bits * 31 + std::bit_cast<uint32_t>(sum);
  }
  return bits;
}

Descriptor ConnectIdle(int port) {
  Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to = {.sin_family = AF_INET,
                    .sin_port = htons(static_cast<uint16_t>(port)),
                    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to));
  return fd;
}

// Connects as a stranger that speaks the protocol but has another token.
// Returns the answer.
Result<Frame> CallWithAnotherToken(Network& network,
                                   const std::string& address) {
  ASSIGN_OR_RETURN(const auto channel, network.Connect(address, Soon()));
  Hello hello = {.role = ChannelRole::kRing, .rank = 1, .generation = 1};
  LinkProofs(Token('b')).Sign(channel->nonce(), 0, hello);
  RETURN_IF_ERROR(channel->Send(EncodeControl(hello), Soon()));
  return channel->Receive(Soon());
}

TEST(RealStrangersTest, ChangeNoBitAndDelayNoStep) {
  AllowDescriptors();
  std::vector<ReservedPort> ports;
  SessionOptions options = {.token = Token('a')};
  for (int rank = 0; rank < kWorkers; ++rank) {
    ports.push_back(*ReservePort("127.0.0.1"));
    options.addresses.push_back(fmt::format("127.0.0.1:{}", ports.back().port));
  }
  const auto kernels = *Kernels::Create({.isa = Isa::kScalar});
  std::atomic<bool> done = false;
  std::atomic<int> formed = 0;
  std::vector<Steps> steps(kWorkers);
  std::vector<std::thread> workers;
  for (int rank = 0; rank < kWorkers; ++rank) {
    workers.emplace_back([&, rank] {
      RealWorld real;
      World world = real.world();
      SessionOptions own = options;
      own.rank = rank;
      steps[static_cast<size_t>(rank)] =
          Train(world, *kernels, own, done, formed);
    });
  }
  // Half of the strangers connect while the sessions form, the others during
  // training.
  std::vector<Descriptor> idle;
  GrpcNetwork network;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < kIdle / 2; ++i) {
      idle.push_back(ConnectIdle(ports[i % kWorkers].port));
    }
    for (int i = 0; i < 20 && !done; ++i) {
      const Result<Frame> answer = CallWithAnotherToken(
          network, options.addresses[static_cast<size_t>(i % kWorkers)]);
      // The stranger was refused or disconnected.
      EXPECT_TRUE(!answer.ok() || DecodeControlAs<Refusal>(*answer).ok());
    }
    for (int now = formed; now < kWorkers; now = formed) formed.wait(now);
  }
  done = true;
  for (std::thread& worker : workers) worker.join();
  for (const Steps& one : steps) {
    ASSERT_TRUE(one.status.ok()) << one.status.ToString();
    EXPECT_GE(one.count, kLeastSteps);
    EXPECT_EQ(one.bits, ExpectedBits(one.count));
    EXPECT_LT(one.longest, std::chrono::seconds(1));
  }
}

// Joins a cluster of two as that rank, and leaves.
Status Join(SessionOptions options, int rank) {
  RealWorld real;
  World world = real.world();
  options.rank = rank;
  const auto kernels = *Kernels::Create({.isa = Isa::kScalar});
  const auto decide = [](const auto&) { return Decision{.generation = 1}; };
  auto session = Session::Form(world, *kernels, options, decide);
  if (session.ok()) (*session)->Leave();
  return session.status();
}

TEST(RealStrangersTest, InTheChiefsPlaceForAMoment_NeitherEndNorHoldAWorker) {
  const std::vector<std::function<void(Channel&)>> tricks = {
      [](Channel& channel) { channel.Close(); },
      [](Channel& channel) {
        EXPECT_TRUE(channel.Send("HTTP/1.1 400 Bad Request", Soon()).ok());
      },
      [](Channel&) {},  // silent
  };
  for (const auto& trick : tricks) {
    const std::array<ReservedPort, 2> ports = {*ReservePort("127.0.0.1"),
                                               *ReservePort("127.0.0.1")};
    SessionOptions options = {.token = Token('a'),
                              .lost_after = std::chrono::milliseconds(500)};
    for (const ReservedPort& port : ports) {
      options.addresses.push_back(fmt::format("127.0.0.1:{}", port.port));
    }
    GrpcNetwork network;
    auto listener = network.Listen(options.addresses[0]).value();
    Status worker;
    std::thread thread([&] { worker = Join(options, 1); });
    // The stranger keeps the connection when it leaves the chief's place.
    const Result<Incoming> caller = listener->Accept(Soon());
    ASSERT_TRUE(caller.ok());
    trick(*caller->channel);
    listener.reset();
    EXPECT_TRUE(Join(options, 0).ok());
    thread.join();
    EXPECT_TRUE(worker.ok()) << worker.ToString();
  }
}

}  // namespace
}  // namespace gauntlet
