// The ring against a plain sum in replica order, for any split, any number of
// chunks and any order of delivery.
#include "engine/cluster/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/train/trainer.h"
#include "tests/engine/cluster/cluster_fixture.h"
#include "tests/engine/cluster/plain_sum.h"

namespace gauntlet {
namespace {

void ExpectCanonicalSum(int workers, int replicas, size_t floats,
                        uint64_t seed) {
  const Arrays arrays =
      MakeReplicas(static_cast<size_t>(replicas), floats, seed);
  const std::vector<float> expected = PlainSum(arrays);
  ClusterFixture cluster(workers, seed);
  const auto& ends = cluster.RunAll([&](World&, Session& session) {
    const ReplicaBlock block =
        ReplicasOf(replicas, session.ring().rank(), workers);
    const std::vector<std::span<const float>> local(
        arrays.begin() + block.first,
        arrays.begin() + block.first + block.count);
    std::vector<float> total(floats);
    Tally tally = {.requests = 1u << session.ring().rank(),
                   .correct = block.count,
                   .rows = 1};
    const Status status = session.ring().AllReduce(
        {.step = 1}, local, total, tally, std::chrono::seconds(5));
    EXPECT_TRUE(SameBits(total, expected));
    EXPECT_EQ(tally.requests, (1u << workers) - 1);
    EXPECT_EQ(tally.correct, replicas);
    EXPECT_EQ(tally.rows, workers);
    return status;
  });
  for (const Status& end : ends) ASSERT_TRUE(end.ok()) << end.ToString();
}

TEST(RingTest, SumsManyChunksInReplicaOrder) {
  for (const int workers : {1, 2, 3, 4}) {
    ExpectCanonicalSum(workers, 4, 3 * 64 * 1024 + 17, 5);
  }
}

// More chunks than may be under way at once.
TEST(RingTest, SumsArraysThatAreLargerThanTheLinksMayHold) {
  for (const int workers : {2, 3, 4}) {
    ExpectCanonicalSum(workers, 4, 18 * 64 * 1024 + 5, 6);
  }
}

RC_GTEST_PROP(RingProperty, SumsInReplicaOrderForAnySplit, ()) {
  const int replicas = *rc::gen::inRange(1, 9);
  const int workers = *rc::gen::inRange(1, replicas + 1);
  const auto floats = static_cast<size_t>(*rc::gen::inRange(1, 200));
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  ExpectCanonicalSum(workers, replicas, floats, seed);
  RC_ASSERT(!testing::Test::HasFailure());
}

RC_GTEST_PROP(RingProperty, GathersWhatEveryRankSaid, ()) {
  const int workers = *rc::gen::inRange(1, 6);
  const auto said = *rc::gen::container<std::vector<std::string>>(
      static_cast<size_t>(workers), rc::gen::arbitrary<std::string>());
  ClusterFixture cluster(workers, *rc::gen::arbitrary<uint64_t>());
  const auto& ends = cluster.RunAll([&](World&, Session& session) -> Status {
    const auto rank = static_cast<size_t>(session.ring().rank());
    ASSIGN_OR_RETURN(const std::vector<std::string> all,
                     session.ring().AllGather({.step = 1}, said[rank],
                                              std::chrono::seconds(5)));
    EXPECT_EQ(all, said);
    return OkStatus();
  });
  for (const Status& end : ends) RC_ASSERT(end.ok());
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(RingTest, AFrameOfAnotherStepIsAnError) {
  ClusterFixture cluster(2, 1);
  const auto& ends = cluster.RunAll([&](World&, Session& session) {
    const uint64_t step = session.ring().rank() == 0 ? 1 : 2;
    return session.ring()
        .AllGather({.step = step}, "x", std::chrono::seconds(1))
        .status();
  });
  EXPECT_EQ(ends[1].code(), Code::kFailedPrecondition);
}

TEST(RingTest, ABroadcastBringsTheRootsBytesToAll) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{3'000'000}}) {
    for (const int workers : {1, 2, 4}) {
      ClusterFixture cluster(workers, 3);
      const int root = workers / 2;
      std::string sent(size, 'x');
      if (size > 0) sent.back() = 'y';
      const auto& ends = cluster.RunAll([&](World&, Session& session) {
        Ring& ring = session.ring();
        const Result<std::string> came = ring.Broadcast(
            {.step = 7}, root, ring.rank() == root ? sent : std::string("no"),
            std::chrono::seconds(5));
        EXPECT_TRUE(came.ok() && *came == sent) << "rank " << ring.rank();
        return came.status();
      });
      for (const Status& end : ends) ASSERT_TRUE(end.ok()) << end.ToString();
    }
  }
}

TEST(RingTest, ABroadcastOfAnotherStepIsAnError) {
  ClusterFixture cluster(2, 3);
  const auto& ends = cluster.RunAll([&](World&, Session& session) {
    const auto step = static_cast<uint64_t>(session.ring().rank());
    return session.ring()
        .Broadcast({.step = step}, 0, "state", std::chrono::seconds(5))
        .status();
  });
  EXPECT_EQ(ends[1].code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace gauntlet
