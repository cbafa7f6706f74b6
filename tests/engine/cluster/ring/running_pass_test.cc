// Exchanges that begin during a backward pass: the sums of the ring, for any
// speeds of the passes, and losses and timeouts during a pass.
#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "engine/train/loop/trainer.h"
#include "tests/engine/cluster/cluster_fixture.h"
#include "tests/engine/cluster/ring/passing_rank.h"
#include "tests/engine/cluster/ring/plain_sum.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kChunk = Ring::kChunkFloats;

Arrays ReplicasAt(const Arrays& all, const ReplicaBlock& block) {
  return {all.begin() + block.first, all.begin() + block.first + block.count};
}

// Offsets of layers, from the last to the first; the first layer begins at 0.
std::vector<size_t> DrawLayers(size_t gradients, RandomStream& stream) {
  std::vector<size_t> offsets;
  for (size_t end = gradients; end > 1 && offsets.size() < 6;) {
    end = stream.Below(end);
    offsets.push_back(end);
  }
  return offsets;
}

// Makes the pass and the exchange: in a fifth of the cases one after the other,
// else at the same time.
Status SumDuringPass(PassingRank& rank, const Tally& tally, size_t gradients,
                     RandomStream& stream) {
  if (stream.Below(5) == 0) return rank.SumAfterPass(tally, seconds(5));
  rank.Begin(seconds(5));
  for (const size_t offset : DrawLayers(gradients, stream)) {
    rank.ComputeFrom(offset, milliseconds(stream.Below(20)));
  }
  return rank.Complete(tally, milliseconds(stream.Below(20)));
}

struct PassCase {
  int workers;
  int replicas;
  size_t gradients;
  size_t extra;
};

class RunningPassTest : public testing::TestWithParam<PassCase> {};

TEST_P(RunningPassTest, SumsInReplicaOrderForAnySpeedOfThePasses) {
  const PassCase& given = GetParam();
  const auto kernels = Kernels::Create({.isa = Isa::kScalar}).value();
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Arrays arrays = MakeReplicas(static_cast<size_t>(given.replicas),
                                       given.gradients + given.extra, seed);
    const std::vector<float> expected = PlainSum(arrays);
    ClusterFixture cluster(given.workers, seed);
    const auto& ends = cluster.RunAll([&](World& world, Session& session) {
      Ring& ring = session.ring();
      const ReplicaBlock block =
          ReplicasOf(given.replicas, ring.rank(), given.workers);
      PassingRank rank(world, ring, *kernels, ReplicasAt(arrays, block),
                       given.gradients);
      RandomStream stream(seed, "rank " + std::to_string(ring.rank()));
      const Tally own = {
          .requests = 1u << ring.rank(), .correct = block.count, .samples = 1};
      const Status status = SumDuringPass(rank, own, given.gradients, stream);
      EXPECT_TRUE(SameBits(rank.sum(), expected)) << "rank " << ring.rank();
      EXPECT_EQ(rank.tally().requests, (1u << given.workers) - 1);
      EXPECT_EQ(rank.tally().correct, given.replicas);
      EXPECT_EQ(rank.tally().samples, given.workers);
      return status;
    });
    for (const Status& end : ends) ASSERT_TRUE(end.ok()) << end.ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, RunningPassTest,
    testing::Values(PassCase{2, 2, 3 * kChunk + 17, 1},
                    PassCase{2, 5, 2 * kChunk, 1},
                    PassCase{3, 4, 2 * kChunk + 1, kChunk + 3},
                    PassCase{4, 4, kChunk, 0}, PassCase{2, 3, 100, 1},
                    PassCase{3, 3, 19 * kChunk + 5, 1}));

// Two ranks of one replica, whose gradients have two whole chunks.
class TwoPassesTest : public testing::Test {
 protected:
  static constexpr size_t kGradients = 2 * kChunk;

  PassingRank RankOf(World& world, Session& session) const {
    const auto rank = static_cast<size_t>(session.ring().rank());
    return {world, session.ring(), *kernels_, {arrays_[rank]}, kGradients};
  }

  const std::unique_ptr<Kernels> kernels_ =
      Kernels::Create({.isa = Isa::kScalar}).value();
  const Arrays arrays_ = MakeReplicas(2, kGradients + 1, 3);
  const std::vector<float> expected_ = PlainSum(arrays_);
};

TEST_F(TwoPassesTest, FinalGradientsAreSummedBeforeThePassEnds) {
  ClusterFixture cluster(2, 1);
  const auto& ends = cluster.RunAll([&](World& world, Session& session) {
    PassingRank rank = RankOf(world, session);
    rank.Begin(seconds(5));
    rank.ComputeFrom(kChunk, seconds(1));
    world.clock.SleepUntil(world.clock.Now() + seconds(1));
    // The chief passes totals on only when all of its own chunks are sent.
    if (session.ring().rank() == 1) {
      EXPECT_EQ(rank.sum()[kChunk], expected_[kChunk]);
      EXPECT_EQ(rank.sum()[2 * kChunk - 1], expected_[2 * kChunk - 1]);
    }
    return rank.Complete({}, seconds(1));
  });
  for (const Status& end : ends) EXPECT_TRUE(end.ok()) << end.ToString();
}

struct WaitCase {
  Duration chief_passes;  // duration of the chief's pass; the other takes 10 s
  Code code;
};

class WaitForPassTest : public TwoPassesTest,
                        public testing::WithParamInterface<WaitCase> {};

// After its own pass, however long the pass took, a rank waits for its
// neighbour for 3 seconds.
TEST_P(WaitForPassTest, TimeoutBeginsAfterTheOwnPass) {
  ClusterFixture cluster(2, 1);
  const auto& ends = cluster.RunAll([&](World& world, Session& session) {
    PassingRank rank = RankOf(world, session);
    const bool chief = session.ring().rank() == 0;
    rank.Begin(chief ? seconds(100) : seconds(3));
    if (!chief) rank.ComputeFrom(kChunk, seconds(1));
    const Status status = rank.Complete(
        {}, chief ? GetParam().chief_passes : Duration(seconds(9)));
    if (!chief && !status.ok()) {
      EXPECT_GE(rank.ended_after(), seconds(3));
      EXPECT_LT(rank.ended_after(), milliseconds(3100));
    }
    return status;
  });
  EXPECT_EQ(ends[1].code(), GetParam().code) << ends[1].ToString();
}

INSTANTIATE_TEST_SUITE_P(
    Passes, WaitForPassTest,
    testing::Values(WaitCase{milliseconds(12'900), Code::kOk},
                    WaitCase{milliseconds(13'200), Code::kDeadlineExceeded}));

// The surviving rank detects the loss at the latest when it needs data of the
// other rank.
TEST_F(TwoPassesTest, RankThatDiesInItsPass_EndsTheExchangeOfTheOther) {
  for (const int dies : {0, 1}) {
    ClusterFixture cluster(2, 1);
    const auto& ends = cluster.RunAll([&](World& world, Session& session) {
      PassingRank rank = RankOf(world, session);
      rank.Begin(seconds(100));
      rank.ComputeFrom(kChunk, seconds(1));
      if (session.ring().rank() == dies) world.host.Exit(1);
      const Status status = rank.Complete({}, seconds(5));
      EXPECT_LT(rank.ended_after(), milliseconds(10));
      return status;
    });
    EXPECT_EQ(ends[static_cast<size_t>(1 - dies)].code(), Code::kUnavailable)
        << dies;
  }
}

}  // namespace
}  // namespace gauntlet
