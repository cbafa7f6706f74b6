// Sessions: forming a membership, refusing one, losing a worker, leaving.
#include "engine/cluster/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/cluster/cluster_fixture.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Status GatherOnce(World&, Session& session) {
  return session.ring()
      .AllGather({.step = 1}, "x", std::chrono::seconds(5))
      .status();
}

// All frames between all workers arrive twice. The two AllGathers have the same
// key, so only the number of a frame shows to which of them it belongs.
TEST(SessionTest, FrameThatComesTwiceIsTakenOnce) {
  ClusterFixture cluster(3, 1);
  cluster.simulation().network().BeginFrameFault(
      {kEveryHost, kEveryHost},
      FrameFault({.id = "twice", .kind = FaultKind::kDuplicate},
                 RandomStream(1, "twice")));
  const auto& ends = cluster.RunAll([](World& world, Session& session) {
    for (const char* payload : {"first", "second"}) {
      const auto all = session.ring().AllGather({.step = 1}, payload,
                                                std::chrono::seconds(5));
      RETURN_IF_ERROR(all.status());
      EXPECT_THAT(*all, ElementsAre(payload, payload, payload));
    }
    world.clock.SleepUntil(world.clock.Now() + std::chrono::seconds(1));
    return OkStatus();
  });
  for (const Status& end : ends) EXPECT_TRUE(end.ok()) << end.ToString();
}

TEST(SessionTest, EveryRankLearnsTheChiefsDecision) {
  ClusterFixture cluster(4, 1);
  const auto& ends = cluster.RunAll([](World&, Session& session) {
    EXPECT_EQ(session.decision().generation, 1u);
    EXPECT_EQ(session.decision().text, "go");
    return OkStatus();
  });
  for (const Status& end : ends) EXPECT_TRUE(end.ok()) << end.ToString();
  EXPECT_EQ(cluster.outcome().end, RunEnd::kAllExited);
}

TEST(SessionTest, ChiefSendsTheAddresses_WhenOnlyItsOwnIsKnown) {
  ClusterFixture cluster(4, 1);
  cluster.UseOnlyTheChiefsAddress();
  const auto& ends = cluster.RunAll([](World& world, Session& session) {
    EXPECT_EQ(session.decision().generation, 1u);
    EXPECT_EQ(session.decision().text, "go");
    return GatherOnce(world, session);
  });
  for (const Status& end : ends) EXPECT_TRUE(end.ok()) << end.ToString();
}

TEST(SessionTest, UnknownWorkerThatIsMissingIsNamedByItsRank) {
  ClusterFixture cluster(3, 1);
  cluster.UseOnlyTheChiefsAddress();
  for (const int rank : {0, 2}) cluster.StartWorker(rank, GatherOnce);
  const auto& ends = cluster.Run();
  EXPECT_EQ(ends[0].code(), Code::kDeadlineExceeded);
  EXPECT_THAT(ends[0].message(), HasSubstr("waiting for rank 1:"));
}

TEST(SessionTest, CallerWithoutAnAddressIsAStranger_WhenAddressesAreExchanged) {
  ClusterFixture cluster(2, 1);
  cluster.UseOnlyTheChiefsAddress();
  cluster.simulation().Start(
      {.name = "stranger", .host = "stranger", .body = [](World& world) {
         const Time deadline = world.clock.Now() + std::chrono::seconds(1);
         const auto channel = world.network.Connect("w0:1", deadline);
         if (!channel.ok()) return 1;
         const Frame hello = ClusterFixture::SignedHello(
             **channel, {.rank = 1, .address = "no address"});
         (*channel)->Send(hello, deadline).ok();
         world.clock.SleepUntil(deadline);
         return 0;
       }});
  for (const Status& end : cluster.RunAll(GatherOnce)) {
    EXPECT_TRUE(end.ok()) << end.ToString();
  }
}

TEST(SessionTest, WorkerWithAnotherClusterSizeReportsIt) {
  ClusterFixture cluster(2, 1);
  cluster.UseOnlyTheChiefsAddress();
  cluster.StartWorker(0, GatherOnce);
  cluster.options().addresses.push_back("w2:1");
  cluster.StartWorker(1, GatherOnce);
  const auto& ends = cluster.Run();
  EXPECT_EQ(ends[1].code(), Code::kInvalidArgument);
  EXPECT_THAT(ends[1].message(),
              HasSubstr("were all told the same number of workers?"));
}

TEST(SessionTest, OneWorkerNeedsNobody) {
  ClusterFixture cluster(1, 1);
  EXPECT_TRUE(cluster.RunAll(GatherOnce)[0].ok());
}

TEST(SessionTest, ChiefNamesTheMissingWorkers) {
  ClusterFixture cluster(4, 1);
  for (const int rank : {0, 1, 3}) cluster.StartWorker(rank, GatherOnce);
  const auto& ends = cluster.Run();
  EXPECT_EQ(ends[0].code(), Code::kDeadlineExceeded);
  EXPECT_THAT(ends[0].message(), HasSubstr("rank 2 (w2:1)"));
  EXPECT_FALSE(ends[1].ok());
}

TEST(SessionTest, WorkerWaitsForAChiefThatComesLate) {
  ClusterFixture cluster(3, 1);
  for (const int rank : {1, 2}) cluster.StartWorker(rank, GatherOnce);
  cluster.simulation().At(cluster.simulation().now() + std::chrono::seconds(5),
                          [&] { cluster.StartWorker(0, GatherOnce); });
  for (const Status& end : cluster.Run()) EXPECT_TRUE(end.ok());
}

TEST(SessionTest, StrangersAreDroppedAndHoldNobodyUp) {
  ClusterFixture cluster(3, 1);
  for (const std::string bytes : {"", "GET / HTTP/1.1"}) {
    cluster.simulation().Start(
        {.name = "stranger", .host = "stranger", .body = [bytes](World& world) {
           const Time deadline = world.clock.Now() + std::chrono::seconds(1);
           const auto channel = world.network.Connect("w0:1", deadline);
           if (!channel.ok()) return 1;
           if (!bytes.empty()) (*channel)->Send(bytes, deadline).ok();
           world.clock.SleepUntil(deadline);
           return 0;
         }});
  }
  for (const Status& end : cluster.RunAll(GatherOnce)) {
    EXPECT_TRUE(end.ok()) << end.ToString();
  }
  for (const ProcessId stranger : {0, 1}) {
    EXPECT_EQ(cluster.simulation().exit_status(stranger)->code, 0);
  }
}

TEST(SessionTest, RefusalReachesEveryRankWithItsCode) {
  ClusterFixture cluster(3, 1);
  const auto refuse = [](const std::vector<JoinedWorker>&) -> Result<Decision> {
    return FailedPrecondition("no valid checkpoint");
  };
  for (const int rank : {0, 1, 2}) {
    cluster.StartWorker(rank, GatherOnce, refuse);
  }
  for (const Status& end : cluster.Run()) {
    EXPECT_EQ(end.code(), Code::kFailedPrecondition);
    EXPECT_THAT(end.message(), HasSubstr("no valid checkpoint"));
  }
}

TEST(SessionTest, LostWorkerEndsTheWaitOfAllOthers) {
  ClusterFixture cluster(4, 1);
  const Time begin = cluster.simulation().now();
  const auto& ends = cluster.RunAll([&](World& world, Session& session) {
    if (session.ring().rank() == 2) world.host.Exit(70);
    return GatherOnce(world, session);
  });
  for (const int rank : {0, 1, 3}) {
    EXPECT_EQ(ends[static_cast<size_t>(rank)].code(), Code::kUnavailable);
  }
  EXPECT_LT(cluster.simulation().now() - begin, std::chrono::seconds(1));
}

TEST(SessionTest, SilentWorkerIsLostAfterTheBound) {
  ClusterFixture cluster(3, 1);
  cluster.options().lost_after = std::chrono::seconds(1);
  const auto wait_long = [&](World& world, Session& session) {
    if (session.ring().rank() == 1) {
      cluster.simulation().Stop(cluster.simulation().self());
    }
    const Time begin = world.clock.Now();
    const Status status =
        session.ring()
            .AllGather({.step = 1}, "x", std::chrono::seconds(60))
            .status();
    EXPECT_LT(world.clock.Now() - begin, std::chrono::seconds(4));
    return status;
  };
  const auto& ends = cluster.RunAll(wait_long);
  EXPECT_EQ(ends[0].code(), Code::kUnavailable);
  EXPECT_EQ(ends[2].code(), Code::kUnavailable);
}

TEST(SessionTest, HungTaskIsNoticedAlthoughHeartbeatsContinue) {
  ClusterFixture cluster(3, 1);
  const auto& ends = cluster.RunAll([&](World& world, Session& session) {
    if (session.ring().rank() == 1) {
      world.clock.SleepUntil(world.clock.Now() + std::chrono::minutes(1));
    }
    return GatherOnce(world, session);
  });
  EXPECT_THAT(
      (std::vector<Code>{ends[0].code(), ends[2].code()}),
      Each(testing::AnyOf(Code::kDeadlineExceeded, Code::kUnavailable)));
}

TEST(SessionTest, LongPauseOfAllIsNoLoss) {
  ClusterFixture cluster(3, 1);
  const auto& ends = cluster.RunAll([&](World& world, Session& session) {
    world.clock.SleepUntil(world.clock.Now() + std::chrono::minutes(1));
    return GatherOnce(world, session);
  });
  for (const Status& end : ends) EXPECT_TRUE(end.ok()) << end.ToString();
}

TEST(SessionTest, LeavingInAnyOrderIsNoLossForAnybody) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ClusterFixture cluster(4, seed);
    const auto& ends = cluster.RunAll(GatherOnce);
    for (const Status& end : ends) ASSERT_TRUE(end.ok()) << seed;
    for (const LoggedEvent& event : cluster.simulation().events()) {
      ASSERT_NE(event.event.kind, EventKind::kWorkerLost) << seed;
    }
  }
}

TEST(SessionTest, ChiefReceivesThePayloadOfEachRank) {
  ClusterFixture cluster(3, 1);
  cluster.options().hello_payload = "held";
  cluster.options().generation = 4;
  cluster.options().incarnation = 2;
  const auto decide =
      [](const std::vector<JoinedWorker>& by_rank) -> Result<Decision> {
    EXPECT_EQ(by_rank.size(), 3u);
    for (const JoinedWorker& joined_worker : by_rank) {
      EXPECT_EQ(joined_worker.hello_payload, "held");
      EXPECT_EQ(joined_worker.generation, 4u);
      EXPECT_EQ(joined_worker.incarnation, 2u);
    }
    return Decision{.generation = 5, .text = ""};
  };
  for (const int rank : {0, 1, 2}) {
    cluster.StartWorker(rank, GatherOnce, decide);
  }
  for (const Status& end : cluster.Run()) EXPECT_TRUE(end.ok());
}

// A process that sends the hello to the chief after a while, and keeps the
// chief's answer.
class LateProcess {
 public:
  LateProcess(ClusterFixture& cluster, Duration after, Hello hello) {
    Simulation& simulation = cluster.simulation();
    simulation.At(simulation.now() + after, [this, &simulation, hello] {
      simulation.Start(
          {.name = "late", .host = "late", .body = [this, hello](World& world) {
             Call(world, hello);
             return 0;
           }});
    });
  }

  const Status& lost() const { return lost_; }
  Time ended() const { return ended_; }
  Refusal refusal() const {
    const Result<Refusal> refusal = DecodeControlAs<Refusal>(answer_);
    return refusal.ok() ? *refusal : Refusal{.message = "no refusal"};
  }

 private:
  void Call(World& world, const Hello& hello) {
    const Time deadline = world.clock.Now() + std::chrono::seconds(20);
    const auto channel = world.network.Connect("w0:1", deadline);
    ASSERT_TRUE(channel.ok());
    ASSERT_TRUE(
        (*channel)
            ->Send(ClusterFixture::SignedHello(**channel, hello), deadline)
            .ok());
    Result<Frame> answer = (*channel)->Receive(deadline);
    if (answer.ok() && DecodeControlAs<Accepted>(*answer).ok()) {
      answer = (*channel)->Receive(deadline);
    }
    lost_ = answer.status();
    if (answer.ok()) answer_ = *answer;
    ended_ = world.clock.Now();
  }

  Status lost_;
  Frame answer_;
  Time ended_{};
};

TEST(SessionTest, StaleWorkerDoesNotTakeItsSuccessorsPlace) {
  ClusterFixture cluster(3, 1);
  cluster.options().incarnation = 2;
  cluster.StartWorker(0, GatherOnce);
  cluster.StartWorker(1, GatherOnce);
  LateProcess late(cluster, std::chrono::seconds(1),
                   {.rank = 1, .incarnation = 1});
  Simulation& simulation = cluster.simulation();
  simulation.At(simulation.now() + std::chrono::seconds(2),
                [&] { cluster.StartWorker(2, GatherOnce); });
  for (const Status& end : cluster.Run()) EXPECT_TRUE(end.ok());
  EXPECT_EQ(late.refusal().message, "another process of rank 1 has come");
}

TEST(SessionTest, RejectsImpossibleIncarnations) {
  for (const Hello& hello : {Hello{.rank = 1, .incarnation = ~uint64_t{0}},
                             Hello{.rank = 1, .incarnation = 2 + 3 * 64 + 1},
                             Hello{.rank = 1, .generation = ~uint64_t{0}}}) {
    ClusterFixture cluster(3, 1);
    cluster.options().incarnation = 2;
    cluster.StartWorker(0, GatherOnce);
    cluster.StartWorker(1, GatherOnce);
    LateProcess stranger(cluster, std::chrono::seconds(1), hello);
    Simulation& simulation = cluster.simulation();
    simulation.At(simulation.now() + std::chrono::seconds(2),
                  [&] { cluster.StartWorker(2, GatherOnce); });
    for (const Status& end : cluster.Run()) EXPECT_TRUE(end.ok());
    EXPECT_THAT(stranger.refusal().message, HasSubstr("rank 1: expected a"));
  }
}

TEST(SessionTest, LaterIncarnationTakesTheEarlierOnesPlace) {
  ClusterFixture cluster(3, 1);
  cluster.options().incarnation = 1;
  cluster.StartWorker(0, GatherOnce);
  LateProcess earlier(cluster, std::chrono::seconds(1),
                      {.rank = 1, .incarnation = 1});
  Simulation& simulation = cluster.simulation();
  simulation.At(simulation.now() + std::chrono::seconds(2), [&] {
    cluster.options().incarnation = 2;
    cluster.StartWorker(1, GatherOnce);
    cluster.StartWorker(2, GatherOnce);
  });
  for (const Status& end : cluster.Run()) EXPECT_TRUE(end.ok());
  EXPECT_EQ(earlier.refusal().message, "another process of rank 1 has come");
}

Status AnswerForAWhile(World& world, Session& session) {
  session.StartRejectingLateConnections();
  world.clock.SleepUntil(world.clock.Now() + std::chrono::seconds(4));
  return GatherOnce(world, session);
}

TEST(SessionTest, RefusesASecondProcessOfARank) {
  ClusterFixture cluster(3, 1);
  LateProcess second(cluster, std::chrono::seconds(1), {.rank = 1});
  const Time begin = cluster.simulation().now();
  for (const Status& end : cluster.RunAll(AnswerForAWhile)) {
    EXPECT_TRUE(end.ok()) << end.ToString();
  }
  EXPECT_EQ(second.refusal().code, Code::kAlreadyExists);
  EXPECT_THAT(second.refusal().message,
              HasSubstr("rank 1 is taken by a running worker (host w1, address "
                        "w1:1)"));
  EXPECT_LT(second.ended(), begin + std::chrono::seconds(2));
}

// A rank whose worker is silent may be lost, so its next process is not
// refused.
TEST(SessionTest, NextProcessOfASilentRankIsNotRefused) {
  ClusterFixture cluster(2, 1);
  LateProcess next(cluster, std::chrono::seconds(1), {.rank = 1});
  const auto& ends = cluster.RunAll([&](World&, Session& session) {
    session.StartRejectingLateConnections();
    if (session.ring().rank() == 1) {
      cluster.simulation().Stop(cluster.simulation().self());
    }
    // Waits for longer than `lost_after`.
    return session.ring()
        .AllGather({.step = 1}, "x", std::chrono::seconds(10))
        .status();
  });
  EXPECT_EQ(ends[0].code(), Code::kUnavailable);
  EXPECT_EQ(next.lost().code(), Code::kUnavailable) << "with the session";
}

// A process that a launcher started later, or that has left a generation, is
// not refused either.
TEST(SessionTest, LaterProcess_WaitsForTheEndOfTheSession) {
  for (const Hello& hello : {Hello{.rank = 1, .incarnation = 1},
                             Hello{.rank = 1, .generation = 1}}) {
    ClusterFixture cluster(2, 1);
    LateProcess next(cluster, std::chrono::seconds(1), hello);
    for (const Status& end : cluster.RunAll(AnswerForAWhile)) {
      EXPECT_TRUE(end.ok()) << end.ToString();
    }
    EXPECT_EQ(next.lost().code(), Code::kUnavailable);
  }
}

// Rank 2 joins and never connects to the ring, as if it had died. A second
// later a hello arrives.
class UnfinishedRing {
 public:
  UnfinishedRing(uint64_t incarnation, const Hello& hello)
      : begin_(cluster_.simulation().now()),
        dead_(cluster_, std::chrono::seconds(1),
              {.rank = 2, .incarnation = incarnation}),
        late_(cluster_, std::chrono::seconds(2), hello) {
    cluster_.options().incarnation = incarnation;
    cluster_.StartWorker(0, GatherOnce);
    cluster_.StartWorker(1, GatherOnce);
  }

  // Returns the chief's final status.
  const Status& Run() { return cluster_.Run()[0]; }
  const LateProcess& late() const { return late_; }
  Duration answered_after() const { return late_.ended() - begin_; }

 private:
  ClusterFixture cluster_{3, 1};
  Time begin_;
  LateProcess dead_;
  LateProcess late_;
};

TEST(SessionTest, HelloThatSupersedesAJoinedWorkerEndsTheWaitForTheRing) {
  for (const Hello& hello :
       {Hello{.rank = 2, .incarnation = 2},
        Hello{.rank = 2, .incarnation = 1, .generation = 1},
        Hello{.rank = 1, .incarnation = 2}}) {
    UnfinishedRing ring(1, hello);
    const Status& end = ring.Run();
    EXPECT_EQ(end.code(), Code::kUnavailable);
    EXPECT_THAT(end.message(),
                HasSubstr(fmt::format(
                    "rank {} came again as the ring of generation 1 formed",
                    hello.rank)));
    EXPECT_EQ(ring.late().lost().code(), Code::kUnavailable) << "was refused";
    EXPECT_LT(ring.answered_after(), std::chrono::seconds(3));
  }
}

// The same process may send its hello twice, as it does if it gets no answer in
// time. A stale worker, of an earlier incarnation, may name a later generation.
TEST(SessionTest, HelloThatProvesNoLossDoesNotEndTheWaitForTheRing) {
  for (const Hello& hello :
       {Hello{.rank = 2, .incarnation = 2},
        Hello{.rank = 2, .incarnation = 1, .generation = 1}}) {
    UnfinishedRing ring(2, hello);
    EXPECT_EQ(ring.Run().code(), Code::kDeadlineExceeded);
    EXPECT_EQ(ring.late().refusal().message, "unexpected hello");
    EXPECT_LT(ring.answered_after(), std::chrono::seconds(3));
  }
}

TEST(SessionTest, RefusesCallersOfEveryKindWhileItTrains) {
  ClusterFixture cluster(3, 1);
  LateProcess chief(cluster, std::chrono::seconds(1), {.rank = 0});
  LateProcess none(cluster, std::chrono::seconds(1), {.rank = 3});
  LateProcess ring(cluster, std::chrono::seconds(1),
                   {.role = ChannelRole::kRing, .rank = 2});
  for (const Status& end : cluster.RunAll(AnswerForAWhile)) {
    EXPECT_TRUE(end.ok()) << end.ToString();
  }
  EXPECT_THAT(chief.refusal().message, HasSubstr("rank 0 is this chief"));
  EXPECT_THAT(none.refusal().message, HasSubstr("expected a rank below 3"));
  EXPECT_THAT(ring.refusal().message, HasSubstr("unexpected hello"));
}

TEST(SessionTest, AbortingASessionEndsItForAll) {
  ClusterFixture cluster(3, 1);
  const auto& ends = cluster.RunAll([](World& world, Session& session) {
    if (session.ring().rank() == 1) {
      session.Abort();
      return Status(Code::kCancelled, "it has left");
    }
    const Time begin = world.clock.Now();
    const Status gathered = GatherOnce(world, session);
    EXPECT_LT(world.clock.Now() - begin, std::chrono::seconds(1));
    return gathered;
  });
  EXPECT_EQ(ends[0].code(), Code::kUnavailable);
  EXPECT_EQ(ends[2].code(), Code::kUnavailable);
}

}  // namespace
}  // namespace gauntlet
