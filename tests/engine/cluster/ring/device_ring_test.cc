// Sums of devices, compared with a plain sum in replica order, and the effects
// of communicators that fail.
#include "engine/cluster/ring/device_ring.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/gpu/device_kernels.h"
#include "engine/gpu/emulated_device.h"
#include "engine/train/loop/trainer.h"
#include "tests/engine/cluster/cluster_fixture.h"
#include "tests/engine/cluster/ring/in_chunks_of.h"
#include "tests/engine/cluster/ring/plain_sum.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr Duration kPatience = seconds(2);

// Gathers first, as Session::OpenLinks requires every rank to be in the ring.
Result<std::unique_ptr<CollectiveLinks>> OpenLinks(Session& session) {
  RETURN_IF_ERROR(session.ring().AllGather({}, "here", kPatience).status());
  return session.OpenLinks();
}

// One rank with its own device, connected to the others by the session.
class Rank {
 public:
  Rank(World& world, Session& session, const gpu::CollectiveApi& api)
      : world_(world),
        session_(session),
        api_(api),
        kernels_(gpu::OpenDevice(EmulatedPlace()).value()),
        memory_(kernels_->memory()) {}

  Status Join(const gpu::CommunicatorId& id = {}) {
    std::unique_ptr<CollectiveLinks> links;
    ASSIGN_OR_RETURN(links, OpenLinks(session_));
    ASSIGN_OR_RETURN(ring_,
                     DeviceRing::Create({.world = world_,
                                         .ring = session_.ring(),
                                         .kernels = *kernels_,
                                         .api = api_},
                                        id, std::move(links), kPatience));
    return OkStatus();
  }

  // Sums the replicas' arrays; takes those that this rank hosts from
  // `replicas`.
  Status Sum(const Arrays& replicas, std::vector<float>& total) {
    const ReplicaBlock block =
        ReplicasOf(static_cast<int>(replicas.size()), session_.ring().rank(),
                   session_.ring().size());
    std::vector<MemoryArray<float>> arrays;
    std::vector<std::span<const float>> local;
    for (int i = 0; i < block.count; ++i) {
      const auto& values = replicas[static_cast<size_t>(block.first + i)];
      local.push_back(Put(values, arrays.emplace_back(memory_)));
    }
    MemoryArray<float> sum(memory_);
    sum.Resize(replicas[0].size());
    RETURN_IF_ERROR(ring_->Sum({.step = 7}, local, sum.span(), kPatience));
    total.resize(sum.size());
    memory_.Download(total.data(), sum.span().data(),
                     total.size() * sizeof(float));
    return OkStatus();
  }

  void Leave() { ring_.reset(); }

 private:
  std::span<const float> Put(const std::vector<float>& values,
                             MemoryArray<float>& place) {
    place.Resize(values.size());
    memory_.Upload(place.span().data(), values.data(),
                   values.size() * sizeof(float));
    return place.span();
  }

  World& world_;
  Session& session_;
  const gpu::CollectiveApi& api_;
  std::unique_ptr<Kernels> kernels_;
  Memory& memory_;
  std::unique_ptr<DeviceRing> ring_;
};

void ExpectCanonicalSum(int workers, const Arrays& replicas,
                        const gpu::CollectiveApi& api,
                        const NetworkLatency& network = {}) {
  const std::vector<float> expected = PlainSum(replicas);
  ClusterFixture cluster(workers, replicas.size(), network);
  const auto& ends = cluster.RunAll([&](World& world, Session& session) {
    Rank rank(world, session, api);
    RETURN_IF_ERROR(rank.Join());
    std::vector<float> total;
    // Sums twice, as a communicator is kept for the next sum.
    RETURN_IF_ERROR(rank.Sum(replicas, total));
    EXPECT_TRUE(SameBits(total, expected));
    RETURN_IF_ERROR(rank.Sum(replicas, total));
    EXPECT_TRUE(SameBits(total, expected));
    return session.ring().AllGather({}, "done", kPatience).status();
  });
  for (const Status& end : ends) ASSERT_TRUE(end.ok()) << end.ToString();
}

TEST(DeviceRingTest, SumsManyChunksInReplicaOrder) {
  for (const int workers : {1, 2, 3, 4}) {
    ExpectCanonicalSum(workers, MakeReplicas(5, 100'000, 5),
                       EmulatedCollective());
  }
}

// A frame that does not fit into the channel yet is sent later.
TEST(DeviceRingTest, Sums_IfTheChannelHoldsLessThanAChunk) {
  ExpectCanonicalSum(3, MakeReplicas(5, 200'000, 5), EmulatedCollective(),
                     {.window_bytes = 1000});
}

RC_GTEST_PROP(DeviceRingProperty, SumsInReplicaOrderForAnySplitAndChunks, ()) {
  const int replicas = *rc::gen::inRange(1, 9);
  const int workers = *rc::gen::inRange(1, replicas + 1);
  const auto floats = static_cast<size_t>(*rc::gen::inRange(1, 200));
  const auto chunk = static_cast<size_t>(*rc::gen::inRange(1, 220));
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  ExpectCanonicalSum(workers,
                     MakeReplicas(static_cast<size_t>(replicas), floats, seed),
                     InChunksOf(chunk));
  RC_ASSERT(!testing::Test::HasFailure());
}

// The number of queued operations is limited: otherwise the device would block
// its caller.
TEST(DeviceRingTest, PollsTheDeviceNowAndThen) {
  static int looks = 0;
  gpu::CollectiveApi api = InChunksOf(1);
  api.finished = [](gpu::Communicator* communicator, gpu::DeviceText* why) {
    ++looks;
    return EmulatedCollective().finished(communicator, why);
  };
  ExpectCanonicalSum(2, MakeReplicas(3, 200, 1), api);
  // 600 and 800 operations for each of two sums; each sum ends with one more
  // check.
  EXPECT_GE(looks, 2 * (2 + 1) + 2 * (2 + 1));
}

struct Outcome {
  std::vector<Status> ends;
  Duration took{0};
};

// Runs three ranks, each with its own function table, and returns their
// outcome.
Outcome RunThree(const std::function<Status(Rank&, int rank)>& body,
                 const std::function<const gpu::CollectiveApi&(int)>& api_of) {
  ClusterFixture cluster(3, 1);
  const Time begin = cluster.simulation().now();
  Outcome outcome;
  outcome.ends = cluster.RunAll([&](World& world, Session& session) {
    const int number = session.ring().rank();
    Rank rank(world, session, api_of(number));
    return body(rank, number);
  });
  outcome.took = cluster.simulation().now() - begin;
  return outcome;
}

Status JoinAndSum(Rank& rank, int) {
  RETURN_IF_ERROR(rank.Join());
  std::vector<float> total;
  return rank.Sum(MakeReplicas(3, 1000, 1), total);
}

void ExpectLossOf(const Outcome& outcome, const std::string& word) {
  for (const Status& end : outcome.ends) {
    EXPECT_TRUE(end.code() == Code::kUnavailable ||
                end.code() == Code::kDeadlineExceeded)
        << end.ToString();
  }
  EXPECT_THAT(outcome.ends[1].message(), HasSubstr(word));
  EXPECT_LT(outcome.took, kPatience + seconds(7));
}

// Returns `other` for rank 1, and the emulated table for the others.
const gpu::CollectiveApi& AtRankOne(const gpu::CollectiveApi& other, int rank) {
  return rank == 1 ? other : EmulatedCollective();
}

TEST(DeviceRingTest, CommunicatorThatCannotBeMadeIsALoss) {
  gpu::CollectiveApi api = EmulatedCollective();
  api.begin = [](gpu::Device*, const gpu::CommunicatorPlace&,
                 gpu::DeviceText* why) -> gpu::Communicator* {
    *why = {.text = "no socket"};
    return nullptr;
  };
  ExpectLossOf(RunThree(JoinAndSum,
                        [&](int rank) -> const gpu::CollectiveApi& {
                          return AtRankOne(api, rank);
                        }),
               "rank 1: joining the communicator: emulated: no socket");
}

TEST(DeviceRingTest, FailureDuringCommunicatorSetup_IsALoss) {
  gpu::CollectiveApi api = EmulatedCollective();
  api.poll = [](gpu::Communicator*, gpu::DeviceText* why) {
    *why = {.text = "unhandled system error"};
    return gpu::CollectiveProgress::kFailed;
  };
  ExpectLossOf(RunThree(JoinAndSum,
                        [&](int rank) -> const gpu::CollectiveApi& {
                          return AtRankOne(api, rank);
                        }),
               "joining the communicator: emulated: unhandled system error");
}

TEST(DeviceRingTest, CommunicatorThatIsNeverMadeIsGivenUp) {
  gpu::CollectiveApi api = EmulatedCollective();
  api.poll = [](gpu::Communicator*, gpu::DeviceText*) {
    return gpu::CollectiveProgress::kInProgress;
  };
  ExpectLossOf(RunThree(JoinAndSum,
                        [&](int rank) -> const gpu::CollectiveApi& {
                          return AtRankOne(api, rank);
                        }),
               "joining the communicator: emulated: no sign of the other");
}

TEST(DeviceRingTest, SumThatFailsIsALoss) {
  gpu::CollectiveApi api = EmulatedCollective();
  api.finished = [](gpu::Communicator*, gpu::DeviceText* why) {
    *why = {.text = "remote error"};
    return gpu::CollectiveProgress::kFailed;
  };
  const Outcome outcome =
      RunThree(JoinAndSum, [&](int rank) -> const gpu::CollectiveApi& {
        return AtRankOne(api, rank);
      });
  EXPECT_EQ(outcome.ends[1].code(), Code::kUnavailable);
  EXPECT_THAT(outcome.ends[1].message(),
              HasSubstr("rank 1: the sum of step 7: emulated: remote error"));
}

TEST(DeviceRingTest, SumWithoutOneRank_TimesOut) {
  ClusterFixture cluster(3, 1);
  Duration waited{0};
  const auto& ends = cluster.RunAll([&](World& world, Session& session) {
    Rank rank(world, session, EmulatedCollective());
    RETURN_IF_ERROR(rank.Join());
    const Time begin = world.clock.Now();
    if (session.ring().rank() == 1) {
      world.clock.SleepUntil(begin + seconds(60));
      return OkStatus();
    }
    std::vector<float> total;
    const Status status = rank.Sum(MakeReplicas(3, 1000, 1), total);
    if (session.ring().rank() == 2) waited = world.clock.Now() - begin;
    return status;
  });
  EXPECT_EQ(ends[2].code(), Code::kDeadlineExceeded);
  EXPECT_THAT(ends[2].message(), HasSubstr("rank 2: the sum of step 7: "
                                           "emulated: no sign of the other"));
  // Rank 0 gives up on its own, or because rank 2 has left.
  EXPECT_FALSE(ends[0].ok());
  EXPECT_GE(waited, kPatience);
  EXPECT_LT(waited, kPatience + milliseconds(10));
}

// A loss that another worker detects ends the wait immediately.
TEST(DeviceRingTest, BrokenRingEndsPendingSums) {
  ClusterFixture cluster(2, 1);
  Duration waited{0};
  const auto& ends = cluster.RunAll([&](World& world, Session& session) {
    Rank rank(world, session, EmulatedCollective());
    RETURN_IF_ERROR(rank.Join());
    if (session.ring().rank() == 1) {
      world.clock.SleepUntil(world.clock.Now() + seconds(60));
      return OkStatus();
    }
    const auto breaks = world.tasks.Spawn("breaks the ring", [&] {
      world.clock.SleepUntil(world.clock.Now() + milliseconds(100));
      session.ring().Abort();
    });
    const Time begin = world.clock.Now();
    std::vector<float> total;
    const Status status = rank.Sum(MakeReplicas(2, 10, 1), total);
    waited = world.clock.Now() - begin;
    breaks->Join();
    return status;
  });
  EXPECT_EQ(ends[0].code(), Code::kUnavailable);
  EXPECT_THAT(ends[0].message(), HasSubstr("a worker is lost"));
  EXPECT_LT(waited, milliseconds(150));
}

TEST(DeviceRingTest, RanksOfTwoCommunicatorsDoNotJoin) {
  const Outcome outcome = RunThree(
      [](Rank& rank, int number) {
        gpu::CommunicatorId id;
        id.bytes[0] = number == 1 ? 'x' : 'y';
        return rank.Join(id);
      },
      [](int) -> const gpu::CollectiveApi& { return EmulatedCollective(); });
  // The neighbour before rank 0 has the same id, so rank 0 would detect the
  // difference only later.
  for (const int rank : {1, 2}) {
    const Status& end = outcome.ends[static_cast<size_t>(rank)];
    EXPECT_EQ(end.code(), Code::kUnavailable);
    EXPECT_THAT(end.message(), HasSubstr("of another communicator"));
  }
}

// Each communicator is ended once, and is not used after a failure.
TEST(DeviceRingTest, FailureEndsTheCommunicator) {
  static int begun = 0;
  static int ended = 0;
  gpu::CollectiveApi api = EmulatedCollective();
  api.begin = [](gpu::Device* device, const gpu::CommunicatorPlace& place,
                 gpu::DeviceText* why) {
    ++begun;
    return EmulatedCollective().begin(device, place, why);
  };
  api.abort = [](gpu::Communicator* communicator) {
    ++ended;
    EmulatedCollective().abort(communicator);
  };
  api.finished = [](gpu::Communicator*, gpu::DeviceText* why) {
    *why = {.text = "remote error"};
    return gpu::CollectiveProgress::kFailed;
  };
  const Outcome outcome = RunThree(
      [](Rank& rank, int number) {
        EXPECT_FALSE(JoinAndSum(rank, number).ok());
        std::vector<float> total;
        const Status again = rank.Sum(MakeReplicas(3, 10, 1), total);
        EXPECT_THAT(again.message(), HasSubstr("the communicator is gone"));
        rank.Leave();
        return again;
      },
      [&](int) -> const gpu::CollectiveApi& { return api; });
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(ended, 3);
}

// A frame from the network may contain any bytes.
TEST(EmulatedCollectiveTest, HostileFramesAreAFailureInOneLine) {
  const std::string id(sizeof(gpu::CommunicatorId::bytes), '\0');
  const ChunkHeader right = {.kind = ChunkKind::kDevice, .generation = 1};
  ChunkHeader late = right;
  late.index = 5;
  ChunkHeader old = right;
  old.generation = 0;
  ChunkHeader other = right;
  other.kind = ChunkKind::kState;
  for (const Frame& frame :
       {Frame("torn"), EncodeChunk(right, "short"), EncodeChunk(late, id),
        EncodeChunk(old, id), EncodeChunk(other, id),
        EncodeChunk(right, std::string(id.size(), 'x'))}) {
    ClusterFixture cluster(2, 1);
    const auto& ends = cluster.RunAll([&](World& world, Session& session) {
      if (session.ring().rank() == 1) {
        return Rank(world, session, EmulatedCollective()).Join();
      }
      const auto links = OpenLinks(session);
      if (!links.ok()) return links.status();
      const Status sent =
          (*links)->next->Send(frame, world.clock.Now() + kPatience);
      world.clock.SleepUntil(world.clock.Now() + seconds(1));
      return sent;
    });
    EXPECT_EQ(ends[1].code(), Code::kUnavailable);
    EXPECT_THAT(ends[1].message(), HasSubstr("joining the communicator"));
    EXPECT_EQ(ends[1].message().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace gauntlet
