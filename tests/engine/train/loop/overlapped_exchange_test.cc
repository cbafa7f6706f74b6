// Exchanges that begin before the last pass of a step, in a simulated cluster.
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/train/loop/gradient_exchange.h"
#include "engine/train/loop/trainer.h"
#include "tests/engine/cluster/cluster_fixture.h"
#include "tests/engine/cluster/ring/plain_sum.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAreArray;

constexpr size_t kChunk = Ring::kChunkFloats;
// More than two whole chunks. The first layer has fewer values than a chunk.
constexpr size_t kGradients = 2 * kChunk + 9;
constexpr size_t kFirstLayer = 100;

enum class LastPass { kComputed, kKept };

// The gradients of one rank's replicas, followed by what is summed with them.
struct RankedArrays {
  std::vector<std::vector<float>> arrays;
  size_t first_layer = kFirstLayer;
  LastPass last_pass = LastPass::kComputed;

  size_t extra() const { return arrays[0].size() - kGradients; }
};

class OverlappedRank {
 public:
  OverlappedRank(World& world, Ring& ring, RankedArrays given)
      : world_(world),
        given_(std::move(given)),
        exchange_({.world = world, .ring = ring, .kernels = *kernels_},
                  {.replicas = given_.arrays.size(),
                   .gradients = kGradients,
                   .extra = given_.extra(),
                   .first_layer = given_.first_layer}) {}

  // Makes a step. Each pass takes 500 ms, and 300 ms more if it is computed and
  // not kept.
  Status Step(uint64_t step, Tally& tally) {
    const ExchangeKey key = {.step = step};
    const size_t count = given_.arrays.size();
    for (size_t i = 0; i < count; ++i) {
      if (i + 1 == count) {
        RETURN_IF_ERROR(exchange_.BeginBeforeLastPass(key, seconds(5)));
      }
      world_.clock.SleepUntil(world_.clock.Now() + milliseconds(500));
      if (i + 1 == count && given_.last_pass == LastPass::kKept) {
        exchange_.AddKept(
            i, std::make_shared<const std::vector<float>>(given_.arrays[i]));
      } else {
        Compute(i);
      }
    }
    pass_ended_ = world_.clock.Now();
    return exchange_.Sum(key, tally, seconds(5));
  }

  std::vector<float> Total() {
    std::vector<float> total(exchange_.Total().begin(),
                             exchange_.Total().end());
    const std::span<const float> extra = exchange_.TotalExtra();
    total.insert(total.end(), extra.begin(), extra.end());
    return total;
  }
  Time pass_ended() const { return pass_ended_; }

 private:
  void Compute(size_t replica) {
    const std::vector<float>& values = given_.arrays[replica];
    const std::span<float> room = exchange_.GradientBuffer(replica);
    const std::function<void(size_t)> final_from =
        exchange_.FinalFromCallback();
    size_t end = kGradients;
    for (const size_t begin : {kChunk + 5, kFirstLayer, size_t{0}}) {
      std::copy_n(values.begin() + static_cast<ptrdiff_t>(begin), end - begin,
                  room.begin() + static_cast<ptrdiff_t>(begin));
      end = begin;
      if (final_from && begin > 0) final_from(begin);
      world_.clock.SleepUntil(world_.clock.Now() + milliseconds(100));
    }
    exchange_.Add(replica);
    std::copy(values.begin() + kGradients, values.end(),
              exchange_.Extra(replica).begin());
  }

  World& world_;
  const RankedArrays given_;
  const std::unique_ptr<Kernels> kernels_ =
      Kernels::Create({.isa = Isa::kScalar}).value();
  GradientExchange exchange_;
  Time pass_ended_{};
};

struct OverlappedCase {
  int workers;
  int replicas;
  // Number of floats that are summed with the gradients. With 1, the sum
  // overwrites the first replica's array.
  size_t extra;
  LastPass last_pass = LastPass::kComputed;
};

class OverlappedExchangeTest : public testing::TestWithParam<OverlappedCase> {};

TEST_P(OverlappedExchangeTest, SumsInReplicaOrderStepByStep) {
  const OverlappedCase& given = GetParam();
  const Arrays arrays = MakeReplicas(static_cast<size_t>(given.replicas),
                                     kGradients + given.extra, 7);
  const std::vector<float> expected = PlainSum(arrays);
  ClusterFixture cluster(given.workers, 1);
  const auto& ends = cluster.RunAll([&](World& world, Session& session) {
    Ring& ring = session.ring();
    const ReplicaBlock block =
        ReplicasOf(given.replicas, ring.rank(), given.workers);
    OverlappedRank rank(world, ring,
                        {.arrays = {arrays.begin() + block.first,
                                    arrays.begin() + block.first + block.count},
                         .last_pass = given.last_pass});
    for (const uint64_t step : {1, 2}) {
      Tally tally = {.requests = 1u << ring.rank(), .correct = block.count};
      RETURN_IF_ERROR(rank.Step(step, tally));
      EXPECT_TRUE(SameBits(rank.Total(), expected)) << "rank " << ring.rank();
      EXPECT_EQ(tally.requests, (1u << given.workers) - 1);
      EXPECT_EQ(tally.correct, given.replicas);
    }
    return OkStatus();
  });
  for (const Status& end : ends) EXPECT_TRUE(end.ok()) << end.ToString();
}

INSTANTIATE_TEST_SUITE_P(
    Clusters, OverlappedExchangeTest,
    testing::Values(OverlappedCase{2, 2, 1}, OverlappedCase{2, 5, 1},
                    OverlappedCase{3, 4, 12}, OverlappedCase{2, 3, kChunk},
                    OverlappedCase{2, 2, 1, LastPass::kKept},
                    OverlappedCase{3, 5, 1, LastPass::kKept}));

// Records the points in order, with their times. Reports an error at one of
// them.
class RecordedPoints final : public FaultPoints {
 public:
  explicit RecordedPoints(const Clock& clock) : clock_(clock) {}
  Status Hit(Point point, const PointContext&) override {
    points.push_back(point);
    times.push_back(clock_.Now());
    return point == fails ? DataLoss("as planned") : OkStatus();
  }
  bool Planted(PlantedBug) const override { return false; }

  std::vector<Point> points;
  std::vector<Time> times;
  std::optional<Point> fails;

 private:
  const Clock& clock_;
};

World WithPoints(World& world, FaultPoints& points) {
  return {.clock = world.clock,
          .storage = world.storage,
          .network = world.network,
          .tasks = world.tasks,
          .host = world.host,
          .faults = points,
          .events = world.events,
          .entropy = world.entropy};
}

// Two ranks of two replicas.
class OverlappedPointsTest : public testing::Test {
 protected:
  // Calls body(rank, its points) on both ranks.
  template <typename Body>
  std::vector<Status> Run(const RankedArrays& given, const Body& body) {
    ClusterFixture cluster(2, 1);
    return cluster.RunAll([&](World& world, Session& session) {
      RecordedPoints points(world.clock);
      World recorded = WithPoints(world, points);
      // The session's ring reports to the world of the fixture.
      OverlappedRank rank(recorded, session.ring(), given);
      return body(rank, points);
    });
  }

  const RankedArrays arrays_ = {.arrays = MakeReplicas(2, kGradients + 1, 3)};
};

TEST_F(OverlappedPointsTest, BeginsBeforeTheLastPassAndEndsAfterIt) {
  for (const bool overlaps : {true, false}) {
    RankedArrays given = arrays_;
    if (!overlaps) given.first_layer = kGradients;
    const std::vector<Status> ends =
        Run(given, [&](OverlappedRank& rank, RecordedPoints& points) {
          Tally tally;
          RETURN_IF_ERROR(rank.Step(1, tally));
          EXPECT_THAT(points.points, ElementsAreArray({Point::kAllReduceBegin,
                                                       Point::kAllReduceEnd}));
          EXPECT_EQ(points.times[0] < rank.pass_ended(), overlaps);
          EXPECT_GE(points.times[1], rank.pass_ended());
          return OkStatus();
        });
    for (const Status& end : ends) EXPECT_TRUE(end.ok()) << end.ToString();
  }
}

TEST_F(OverlappedPointsTest, ErrorAtTheBegin_LeavesNothingRunning) {
  const std::vector<Status> ends =
      Run(arrays_, [&](OverlappedRank& rank, RecordedPoints& points) {
        points.fails = Point::kAllReduceBegin;
        Tally tally;
        return rank.Step(1, tally);
      });
  for (const Status& end : ends) EXPECT_EQ(end.code(), Code::kDataLoss);
}

}  // namespace
}  // namespace gauntlet
