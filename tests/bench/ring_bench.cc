// All-reduce between workers on one host, each a thread of this process with
// its own network; and a ring of a single worker.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/check.h"
#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/ring/ring.h"
#include "engine/math/kernels.h"
#include "engine/real/network/tcp_socket.h"
#include "engine/real/real_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kLong = std::chrono::minutes(1);

// A worker of one replica that has not joined a ring yet.
struct Node {
  Node()
      : port(ReservePort("127.0.0.1").value()),
        address(fmt::format("127.0.0.1:{}", port.port)),
        world(parts.world()),
        listener(world.network.Listen(address).value()),
        kernels(Kernels::Create({}).value()) {}
  Time Soon() const { return world.clock.Now() + kLong; }

  ReservedPort port;
  std::string address;
  RealWorld parts;
  World world;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Kernels> kernels;
};

using Nodes = std::vector<std::unique_ptr<Node>>;

// Returns the rings by rank. A single worker's ring has no channels.
std::vector<std::unique_ptr<Ring>> RingsOf(Nodes& nodes) {
  const size_t size = nodes.size();
  std::vector<std::unique_ptr<Channel>> next(size), previous(size);
  for (size_t rank = 0; rank < size && size > 1; ++rank) {
    Node& node = *nodes[rank];
    const size_t other = (rank + 1) % size;
    next[rank] =
        node.world.network.Connect(nodes[other]->address, node.Soon()).value();
    const Frame hello = EncodeControl(Hello{.role = ChannelRole::kRing});
    CHECK(next[rank]->Send(hello, node.Soon()).ok(), "a connection");
    previous[other] =
        nodes[other]->listener->Accept(node.Soon()).value().channel;
  }
  std::vector<std::unique_ptr<Ring>> rings;
  for (size_t rank = 0; rank < size; ++rank) {
    rings.push_back(std::make_unique<Ring>(
        nodes[rank]->world, *nodes[rank]->kernels,
        RingPlace{.rank = static_cast<int>(rank),
                  .size = static_cast<int>(size),
                  .generation = 1},
        std::move(next[rank]), std::move(previous[rank])));
  }
  return rings;
}

// One worker's side of every exchange.
class Reducer {
 public:
  Reducer(Ring& ring, size_t floats)
      : ring_(ring),
        local_(floats, static_cast<float>(ring.rank() + 1)),
        total_(floats) {}

  void Reduce() {
    const std::span<const float> local[] = {local_};
    Tally tally = {.samples = 1};
    const Status status =
        ring_.AllReduce({.step = ++step_}, local, total_, tally, kLong);
    CHECK(status.ok(), status.ToString());
    CHECK(tally.samples == ring_.size(), "every worker takes part");
  }
  // Checks that every value is the sum of 1, 2, … size.
  void CheckTotal() const {
    const auto expected =
        static_cast<float>(ring_.size() * (ring_.size() + 1) / 2);
    for (const float value : total_) {
      CHECK(value == expected,
            fmt::format("expected {}, found {}", expected, value));
    }
  }

 private:
  Ring& ring_;
  const std::vector<float> local_;
  std::vector<float> total_;
  uint64_t step_ = 0;
};

void BM_AllReduce(benchmark::State& state) {
  const auto workers = static_cast<size_t>(state.range(0));
  const size_t floats =
      static_cast<size_t>(state.range(1)) * 1000 / sizeof(float);
  Nodes nodes;
  for (size_t i = 0; i < workers; ++i)
    nodes.push_back(std::make_unique<Node>());
  const auto rings = RingsOf(nodes);
  std::vector<std::jthread> others;
  for (size_t rank = 1; rank < workers; ++rank) {
    others.emplace_back(
        [&ring = *rings[rank], floats, exchanges = 1 + state.max_iterations] {
          Reducer other(ring, floats);
          for (benchmark::IterationCount i = 0; i < exchanges; ++i)
            other.Reduce();
          other.CheckTotal();
        });
  }
  Reducer chief(*rings[0], floats);
  chief.Reduce();
  chief.CheckTotal();
  for (auto _ : state) chief.Reduce();
  others.clear();  // joins them
  chief.CheckTotal();
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(floats * sizeof(float)));
}
// 1628 kB: the gradients of the mlp job.
BENCHMARK(BM_AllReduce)
    ->ArgNames({"workers", "kB"})
    ->ArgsProduct({{1, 2, 4}, {64, 1628, 40000}})
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gauntlet
