// The ring, compared with a plain sum in replica order: for any split, any
// number of chunks and any order of delivery.
#include "engine/cluster/ring/ring.h"

#include <functional>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/train/loop/trainer.h"
#include "tests/engine/cluster/cluster_fixture.h"
#include "tests/engine/cluster/ring/plain_sum.h"

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
                   .samples = 1};
    const Status status = session.ring().AllReduce(
        {.step = 1}, local, total, tally, std::chrono::seconds(5));
    EXPECT_TRUE(SameBits(total, expected));
    EXPECT_EQ(tally.requests, (1u << workers) - 1);
    EXPECT_EQ(tally.correct, replicas);
    EXPECT_EQ(tally.samples, workers);
    return status;
  });
  for (const Status& end : ends) ASSERT_TRUE(end.ok()) << end.ToString();
}

TEST(RingTest, SumsManyChunksInReplicaOrder) {
  for (const int workers : {1, 2, 3, 4}) {
    ExpectCanonicalSum(workers, 4, 3 * 64 * 1024 + 17, 5);
  }
}

// The sum needs more chunks than may be in flight.
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

RC_GTEST_PROP(RingProperty, GathersThePayloadOfEveryRank, ()) {
  const int workers = *rc::gen::inRange(1, 6);
  const auto payloads = *rc::gen::container<std::vector<std::string>>(
      static_cast<size_t>(workers), rc::gen::arbitrary<std::string>());
  ClusterFixture cluster(workers, *rc::gen::arbitrary<uint64_t>());
  const auto& ends = cluster.RunAll([&](World&, Session& session) -> Status {
    const auto rank = static_cast<size_t>(session.ring().rank());
    ASSIGN_OR_RETURN(const std::vector<std::string> all,
                     session.ring().AllGather({.step = 1}, payloads[rank],
                                              std::chrono::seconds(5)));
    EXPECT_EQ(all, payloads);
    return OkStatus();
  });
  for (const Status& end : ends) RC_ASSERT(end.ok());
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(RingTest, FrameOfAnotherStepIsAnError) {
  ClusterFixture cluster(2, 1);
  const auto& ends = cluster.RunAll([&](World&, Session& session) {
    const uint64_t step = session.ring().rank() == 0 ? 1 : 2;
    return session.ring()
        .AllGather({.step = step}, "x", std::chrono::seconds(1))
        .status();
  });
  EXPECT_EQ(ends[1].code(), Code::kFailedPrecondition);
  // Rank 0 detects the same difference, or that rank 1 has left.
  EXPECT_FALSE(ends[0].ok());
}

// A neighbour that sends the given frame.
class Scripted final : public Channel {
 public:
  explicit Scripted(Frame says) : says_(std::move(says)) {}
  Status Send(Frame, Time) override { return OkStatus(); }
  Result<Frame> Receive(Time) override { return says_; }
  void Close() override {}
  const Nonce& nonce() const override { return nonce_; }

 private:
  Nonce nonce_{};
  Frame says_;
};

// Returns the status of `exchange` on rank 1 of two, which receives `frame`.
using Exchange = std::function<Status(Ring&)>;
Status EndAfter(const Frame& frame, const Exchange& exchange) {
  ClusterFixture cluster(1, 1);
  const auto kernels = Kernels::Create({.isa = Isa::kScalar}).value();
  return cluster.RunAll([&](World& world, Session&) {
    Ring ring(world, *kernels, {.rank = 1, .size = 2, .generation = 1},
              std::make_unique<Scripted>(""),
              std::make_unique<Scripted>(frame));
    return exchange(ring);
  })[0];
}

TEST(RingTest, ChunkOfAnotherLengthIsRefused) {
  const ChunkHeader header = {
      .kind = ChunkKind::kPartial, .generation = 1, .step = 1};
  const Exchange sum = [](Ring& ring) {
    const std::vector<float> local(2, 1.0f);
    const std::vector<std::span<const float>> views = {local};
    std::vector<float> total(2);
    Tally tally;
    return ring.AllReduce({.step = 1}, views, total, tally,
                          std::chrono::seconds(1));
  };
  EXPECT_TRUE(EndAfter(EncodeChunk(header, std::string(8, '\0')), sum).ok());
  for (const size_t bytes : {0, 4, 7, 9, 12}) {
    const Status end =
        EndAfter(EncodeChunk(header, std::string(bytes, '\0')), sum);
    EXPECT_EQ(end.code(), Code::kDataLoss) << bytes;
  }
}

TEST(RingTest, ListOfAnotherLengthIsRefused) {
  const ChunkHeader header = {
      .kind = ChunkKind::kGather, .generation = 1, .step = 1};
  const Exchange gather = [](Ring& ring) {
    return ring.AllGather({.step = 1}, "x", std::chrono::seconds(1)).status();
  };
  const std::string one = EncodeList(std::vector<std::string>{"first"});
  EXPECT_TRUE(EndAfter(EncodeChunk(header, one), gather).ok());
  for (const std::string& list :
       {std::string(), one + one, one + "torn", one.substr(0, 9)}) {
    EXPECT_EQ(EndAfter(EncodeChunk(header, list), gather).code(),
              Code::kDataLoss);
  }
}

// Sends the texts from rank `root`, or returns what a rank received.
Result<std::string> ShareState(Ring& ring, const ExchangeKey& key, int root,
                               const std::vector<std::string>& texts,
                               uint64_t limit) {
  constexpr Duration kPatience = std::chrono::seconds(5);
  std::string all;
  if (ring.rank() == root) {
    std::vector<std::span<const std::byte>> parts;
    for (const std::string& text : texts) {
      parts.push_back(std::as_bytes(std::span(text)));
      all += text;
    }
    RETURN_IF_ERROR(ring.SendState(key, parts, kPatience));
    return all;
  }
  const TakeChunk take = [&all](std::span<const std::byte> chunk, uint64_t) {
    all.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  };
  const bool passes_on = (ring.rank() + 1) % ring.size() != root;
  RETURN_IF_ERROR(ring.ReceiveState(key, passes_on, limit, take, kPatience));
  return all;
}

TEST(RingTest, StateOfTheRootReachesAll) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{3'000'000}}) {
    for (const int workers : {2, 4}) {
      ClusterFixture cluster(workers, 3);
      const std::vector<std::string> texts = {"", std::string(size, 'x'),
                                              std::string(size / 3, 'y')};
      const std::string sent = texts[1] + texts[2];
      const auto& ends = cluster.RunAll([&](World&, Session& session) {
        const Result<std::string> came = ShareState(
            session.ring(), {.step = 7}, workers / 2, texts, sent.size());
        EXPECT_TRUE(came.ok() && *came == sent)
            << "rank " << session.ring().rank();
        return came.status();
      });
      for (const Status& end : ends) ASSERT_TRUE(end.ok()) << end.ToString();
    }
  }
}

TEST(RingTest, StateEndsAtARankThatDoesNotPassItOn) {
  ClusterFixture cluster(3, 3);
  const std::string text(1'000'000, 'x');
  const auto& ends = cluster.RunAll([&](World&, Session& session) {
    Ring& ring = session.ring();
    constexpr Duration kPatience = std::chrono::seconds(5);
    if (ring.rank() == 0) {
      const auto part = std::as_bytes(std::span(text));
      RETURN_IF_ERROR(ring.SendState({.step = 7}, {{part}}, kPatience));
    } else if (ring.rank() == 1) {
      RETURN_IF_ERROR(ring.ReceiveState(
          {.step = 7}, /*passes_on=*/false, text.size(), [](auto, uint64_t) {},
          kPatience));
    }
    return ring.AllGather({.step = 8}, "next", kPatience).status();
  });
  for (const Status& end : ends) ASSERT_TRUE(end.ok()) << end.ToString();
}

TEST(RingTest, RefusesAStateThatIsLargerThanItMayBe) {
  ClusterFixture cluster(2, 3);
  const auto& ends = cluster.RunAll([&](World&, Session& session) {
    return ShareState(session.ring(), {.step = 1}, 0, {"state"}, 4).status();
  });
  EXPECT_EQ(ends[1].code(), Code::kDataLoss);
}

TEST(RingTest, StateOfAnotherStepIsAnError) {
  ClusterFixture cluster(2, 3);
  const auto& ends = cluster.RunAll([&](World&, Session& session) {
    const auto step = static_cast<uint64_t>(session.ring().rank());
    return ShareState(session.ring(), {.step = step}, 0, {"state"}, 5).status();
  });
  EXPECT_EQ(ends[1].code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace gauntlet
