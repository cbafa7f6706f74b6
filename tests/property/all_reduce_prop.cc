// All-reduce compared with a plain sum in replica order: bitwise identical for
// any numbers of workers and replicas, any size, and any delay of every frame.
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "chaos/sim/simulation.h"
#include "engine/cluster/ring/ring.h"
#include "engine/train/loop/trainer.h"
#include "tests/engine/cluster/ring/plain_sum.h"
#include "tests/property/property.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Reduction {
  int workers = 1;
  int replicas = 1;
  size_t floats = 1;
  uint64_t seed = 0;           // for values, schedule and delays
  uint64_t most_delay_us = 1;  // per frame
  uint64_t rounds = 1;         // consecutive all-reduces on one ring
};

std::string ToText(const Reduction& r) {
  return fmt::format("{} {} {} {} {} {}\n", r.workers, r.replicas, r.floats,
                     r.seed, r.most_delay_us, r.rounds);
}

Result<Reduction> FromText(std::string_view text) {
  std::istringstream in{std::string(text)};
  Reduction r;
  in >> r.workers >> r.replicas >> r.floats >> r.seed >> r.most_delay_us >>
      r.rounds;
  if (!in) return InvalidArgument("expected six numbers");
  return r;
}

// Returns values of very different magnitudes, with zeros of both signs and
// infinities: summing them in any other order gives other bits.
Arrays MakeReplicas(const Reduction& r, uint64_t round) {
  RandomStream stream(r.seed + round, "replicas");
  Arrays arrays(static_cast<size_t>(r.replicas), std::vector<float>(r.floats));
  for (auto& array : arrays) {
    for (float& value : array) {
      const auto mantissa = static_cast<float>(stream.Below(1 << 20)) - 5e5f;
      value = std::ldexp(mantissa, static_cast<int>(stream.Below(40)) - 20);
      const uint64_t rare = stream.Below(200);
      if (rare == 0) value = -0.0f;
      if (rare == 1) value = std::numeric_limits<float>::infinity();
    }
  }
  return arrays;
}

// Returns true iff the bits are equal, or both values are NaN.
bool SameBits(float x, float y) {
  return (std::isnan(x) && std::isnan(y)) ||
         std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
}

// The workers, and the first error that one of them finds.
class Cluster {
 public:
  explicit Cluster(const Reduction& reduction)
      : reduction_(reduction),
        simulation_(pool_,
                    {.seed = reduction.seed,
                     .network = {.one_way = {std::chrono::microseconds(0),
                                             std::chrono::microseconds(
                                                 reduction.most_delay_us)}}}) {
    kernels_ = std::move(Kernels::Create({.isa = Isa::kScalar})).value();
    for (uint64_t round = 0; round < reduction.rounds; ++round) {
      replicas_.push_back(MakeReplicas(reduction, round));
      sums_.push_back(PlainSum(replicas_.back()));
    }
  }

  std::string Run() {
    for (int rank = 0; rank < reduction_.workers; ++rank) {
      simulation_.Start({.name = HostOf(rank),
                         .host = HostOf(rank),
                         .body = [this, rank](World& world) {
                           const std::string wrong = Work(world, rank);
                           if (!wrong.empty() && wrong_.empty()) wrong_ = wrong;
                           // Exits, so that the other workers do not wait for
                           // this one.
                           if (!wrong.empty()) world.host.Exit(1);
                           return 0;
                         }});
    }
    const RunOutcome outcome = simulation_.Run();
    if (!wrong_.empty()) return wrong_;
    return outcome.end == RunEnd::kAllExited ? "" : outcome.report;
  }

 private:
  static std::string HostOf(int rank) { return fmt::format("w{}", rank); }
  std::string AddressOf(int rank) const {
    return HostOf(rank % reduction_.workers) + ":1";
  }

  std::string Work(World& world, int rank) {
    std::unique_ptr<Channel> next;
    std::unique_ptr<Channel> previous;
    if (reduction_.workers > 1) {
      auto listener = world.network.Listen(AddressOf(rank));
      if (!listener.ok()) return listener.status().ToString();
      auto connected = world.network.Connect(AddressOf(rank + 1), kNever);
      if (!connected.ok()) return connected.status().ToString();
      const Status sent = (*connected)->Send("first", kNever);
      if (!sent.ok()) return sent.ToString();
      auto accepted = (*listener)->Accept(kNever);
      if (!accepted.ok()) return accepted.status().ToString();
      next = std::move(connected).value();
      previous = std::move(accepted.value().channel);
    }
    Ring ring(world, *kernels_,
              {.rank = rank, .size = reduction_.workers, .generation = 1},
              std::move(next), std::move(previous));
    for (size_t round = 0; round < replicas_.size(); ++round) {
      std::string wrong = Reduce(ring, round);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  std::string Reduce(Ring& ring, size_t round) {
    const Arrays& replicas = replicas_[round];
    const std::vector<float>& sum = sums_[round];
    const ReplicaBlock block =
        ReplicasOf(reduction_.replicas, ring.rank(), ring.size());
    const std::vector<std::span<const float>> local(
        replicas.begin() + block.first,
        replicas.begin() + block.first + block.count);
    std::vector<float> total(reduction_.floats);
    Tally tally = {.requests = 1u << ring.rank(),
                   .correct = block.count,
                   .samples = ring.rank()};
    const Status status = ring.AllReduce({.step = round + 1}, local, total,
                                         tally, std::chrono::seconds(60));
    if (!status.ok()) return status.ToString();
    for (size_t i = 0; i < total.size(); ++i) {
      if (SameBits(total[i], sum[i])) continue;
      return fmt::format("rank {} round {} element {}: expected {}, found {}",
                         ring.rank(), round, i, sum[i], total[i]);
    }
    const bool tallied = tally.requests == (1u << ring.size()) - 1 &&
                         tally.correct == reduction_.replicas &&
                         tally.samples == ring.size() * (ring.size() - 1) / 2;
    return tallied ? "" : fmt::format("rank {}: a wrong tally", ring.rank());
  }

  Reduction reduction_;
  FiberPool pool_;
  Simulation simulation_;
  std::unique_ptr<Kernels> kernels_;
  std::vector<Arrays> replicas_;
  std::vector<std::vector<float>> sums_;
  std::string wrong_;
};

// Returns sizes within one chunk (64 Ki floats), at its edges, and of several
// chunks.
rc::Gen<size_t> Floats() {
  constexpr size_t kChunk = 64 * 1024;
  return rc::gen::weightedOneOf<size_t>(
      {{6, rc::gen::inRange<size_t>(1, 300)},
       {1, rc::gen::element(kChunk - 1, kChunk, kChunk + 1, 2 * kChunk,
                            3 * kChunk + 17)}});
}

TEST(AllReduceProperty, IsThePlainSumInReplicaOrder) {
  CheckProperty<Reduction>(
      {.name = "all_reduce",
       .any = rc::gen::exec([] {
         const int workers = *rc::gen::inRange(1, 9);
         return Reduction{
             .workers = workers,
             .replicas = workers + *rc::gen::inRange(0, 9),
             .floats = *Floats(),
             .seed = *rc::gen::inRange<uint64_t>(0, 1'000'000),
             .most_delay_us = *rc::gen::element<uint64_t>(1, 50, 500, 100'000),
             .rounds = *rc::gen::inRange<uint64_t>(1, 4)};
       }),
       .to_text = ToText,
       .from_text = FromText,
       .wrong = [](const Reduction& r) { return Cluster(r).Run(); }});
}

}  // namespace
}  // namespace gauntlet
