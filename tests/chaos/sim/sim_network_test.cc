#include <gtest/gtest.h>

#include "chaos/sim/simulation.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A client on host "c" and a server on host "s", connected. The client has sent
// a first frame.
class SimNetworkTest : public testing::Test {
 protected:
  using End = std::function<void(World&, Channel&)>;

  void RunBoth(End client, End server) {
    server_ = simulation_.Start(
        {.name = "server", .host = "s", .body = [server](World& world) {
           auto listener = world.network.Listen("s:80");
           auto caller = (*listener)->Accept(kNever);
           if (caller.ok()) server(world, *caller->channel);
           return 0;
         }});
    client_ = simulation_.Start(
        {.name = "client", .host = "c", .body = [client](World& world) {
           auto channel = world.network.Connect("s:80", kNever);
           if (channel.ok() && (*channel)->Send("first", kNever).ok()) {
             // Waits until the server has accepted the connection.
             world.clock.SleepUntil(world.clock.Now() + milliseconds(10));
             client(world, **channel);
           }
           return 0;
         }});
    const RunOutcome outcome = simulation_.Run();
    EXPECT_EQ(outcome.end, RunEnd::kAllExited) << outcome.report;
  }
  void After(Duration duration, std::function<void()> callback) {
    simulation_.At(simulation_.now() + duration, std::move(callback));
  }
  Time In(Duration duration) { return simulation_.now() + duration; }

  FiberPool pool_;
  Simulation simulation_{pool_, {.seed = 9}};
  ProcessId server_ = -1;
  ProcessId client_ = -1;
};

Code ReceiveCode(Channel& channel, Time deadline) {
  return channel.Receive(deadline).status().code();
}

TEST_F(SimNetworkTest, KilledProcessBreaksItsConnections) {
  After(seconds(1), [&] { simulation_.Kill(server_); });
  RunBoth(
      [&](World&, Channel& channel) {
        EXPECT_EQ(ReceiveCode(channel, In(seconds(5))), Code::kUnavailable);
        EXPECT_LT(simulation_.now(), Time(seconds(1002)));
      },
      [&](World&, Channel&) { simulation_.Hang(); });
}

TEST_F(SimNetworkTest, FramesSentBeforeAKillStillArrive) {
  RunBoth(
      [&](World&, Channel& channel) {
        EXPECT_EQ(*channel.Receive(In(seconds(5))), "last words");
        EXPECT_EQ(ReceiveCode(channel, In(seconds(5))), Code::kUnavailable);
      },
      [&](World&, Channel& channel) {
        EXPECT_TRUE(channel.Send("last words", kNever).ok());
        simulation_.Kill(simulation_.self());
      });
}

TEST_F(SimNetworkTest, PowerLossIsSilentUntilTheOtherEndSends) {
  After(seconds(1), [&] { simulation_.PowerLoss("s"); });
  RunBoth(
      [&](World&, Channel& channel) {
        EXPECT_EQ(ReceiveCode(channel, In(seconds(5))),
                  Code::kDeadlineExceeded);
        EXPECT_TRUE(channel.Send("anybody there?", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, In(seconds(5))), Code::kUnavailable);
      },
      [&](World&, Channel&) { simulation_.Hang(); });
}

TEST_F(SimNetworkTest, CutHoldsFramesBackAndHealingDeliversThem) {
  NetworkFabric& network = simulation_.network();
  RunBoth(
      [&](World&, Channel& channel) {
        network.Cut({"c", "s"});
        EXPECT_TRUE(channel.Send("one", kNever).ok());
        EXPECT_TRUE(channel.Send("two", kNever).ok());
        After(seconds(3), [&] { network.Heal({"c", "s"}); });
        EXPECT_EQ(*channel.Receive(kNever), "got both");
      },
      [&](World&, Channel& channel) {
        EXPECT_EQ(ReceiveCode(channel, In(seconds(1))),
                  Code::kDeadlineExceeded);
        EXPECT_EQ(*channel.Receive(kNever), "one");
        EXPECT_EQ(*channel.Receive(kNever), "two");
        EXPECT_TRUE(channel.Send("got both", kNever).ok());
      });
}

TEST_F(SimNetworkTest, OneWayCutLeavesTheOtherWayOpen) {
  RunBoth(
      [&](World&, Channel& channel) {
        simulation_.network().Cut({"c", "s"});
        EXPECT_TRUE(channel.Send("lost for now", kNever).ok());
        EXPECT_EQ(*channel.Receive(In(seconds(5))), "hello");
        simulation_.network().Heal({"c", "s"});
      },
      [&](World&, Channel& channel) {
        EXPECT_TRUE(channel.Send("hello", kNever).ok());
        EXPECT_EQ(*channel.Receive(kNever), "lost for now");
      });
}

TEST_F(SimNetworkTest, CutHidesTheDeathOfTheOtherEnd) {
  RunBoth(
      [&](World&, Channel& channel) {
        simulation_.network().Cut({"s", "c"});
        simulation_.Kill(server_);
        EXPECT_EQ(ReceiveCode(channel, In(seconds(30))),
                  Code::kDeadlineExceeded);
        simulation_.network().Heal({"s", "c"});
        EXPECT_EQ(ReceiveCode(channel, In(seconds(30))), Code::kUnavailable);
      },
      [&](World&, Channel&) { simulation_.Hang(); });
}

TEST_F(SimNetworkTest, ConnectWaitsForACutToHeal) {
  simulation_.network().Cut({"s", "c"});
  const Time begin = simulation_.now();
  After(seconds(2), [&] { simulation_.network().Heal({"s", "c"}); });
  RunBoth([&](World& world,
              Channel&) { EXPECT_GE(world.clock.Now(), begin + seconds(2)); },
          [](World&, Channel&) {});
}

TEST_F(SimNetworkTest, ConnectGivesUpWhileCut) {
  simulation_.network().Cut({"c", "s"});
  simulation_.Start({.name = "server", .host = "s", .body = [](World& world) {
                       auto listener = world.network.Listen("s:80");
                       world.clock.SleepUntil(world.clock.Now() + seconds(10));
                       return 0;
                     }});
  simulation_.Start(
      {.name = "client", .host = "c", .body = [](World& world) {
         const auto channel =
             world.network.Connect("s:80", world.clock.Now() + seconds(3));
         EXPECT_EQ(channel.status().code(), Code::kDeadlineExceeded);
         return 0;
       }});
  EXPECT_EQ(simulation_.Run().end, RunEnd::kAllExited);
}

TEST_F(SimNetworkTest, ConnectTimesOut_IfAnswerIsTooLate) {
  RunBoth(
      [&](World& world, Channel&) {
        const Time deadline = In(std::chrono::microseconds(1));
        EXPECT_EQ(world.network.Connect("s:80", deadline).status().code(),
                  Code::kDeadlineExceeded);
        EXPECT_LT(simulation_.now(), deadline + milliseconds(1));
      },
      [](World& world, Channel&) {
        world.clock.SleepUntil(world.clock.Now() + seconds(1));
      });
}

TEST_F(SimNetworkTest, DelayIsAddedToTheLatency) {
  simulation_.network().BeginFrameFault(
      {"c", "s"}, FrameFault({.id = "late",
                              .kind = FaultKind::kDelay,
                              .with = {.latency = milliseconds(800)}},
                             RandomStream(1, "late")));
  Time sent;
  RunBoth(
      [&](World& world, Channel& channel) {
        sent = world.clock.Now();
        EXPECT_TRUE(channel.Send("slow", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, kNever), Code::kUnavailable);
      },
      [&](World& world, Channel& channel) {
        EXPECT_EQ(*channel.Receive(kNever), "slow");
        EXPECT_GE(world.clock.Now(), sent + milliseconds(800));
      });
}

TEST_F(SimNetworkTest, Reset_BreaksBothEnds_AndLosesFramesInTransit) {
  RunBoth(
      [&](World&, Channel& channel) {
        EXPECT_TRUE(channel.Send("lost", kNever).ok());
        simulation_.network().Reset({"s", "c"});
        EXPECT_EQ(ReceiveCode(channel, kNever), Code::kUnavailable);
      },
      [&](World&, Channel& channel) {
        EXPECT_EQ(ReceiveCode(channel, kNever), Code::kUnavailable);
      });
}

TEST_F(SimNetworkTest, HostThatIsCutFromEveryHostStillReachesItself) {
  simulation_.network().Cut({"c", kEveryHost});
  simulation_.network().Cut({kEveryHost, "c"});
  EXPECT_TRUE(simulation_.network().IsCut("c", "s"));
  EXPECT_TRUE(simulation_.network().IsCut("s", "c"));
  EXPECT_FALSE(simulation_.network().IsCut("c", "c"));
  EXPECT_FALSE(simulation_.network().IsCut("s", "d"));
}

TEST_F(SimNetworkTest, DirectionThatIsCutTwiceMustBeHealedTwice) {
  NetworkFabric& network = simulation_.network();
  network.Cut({"c", "s"});
  network.Cut({"c", "s"});
  network.Heal({"c", "s"});
  EXPECT_TRUE(network.IsCut("c", "s"));
  network.Heal({"c", "s"});
  EXPECT_FALSE(network.IsCut("c", "s"));
  network.Heal({"c", "s"});
}

TEST_F(SimNetworkTest, CallsBackOnceBothWaysAreOpen) {
  NetworkFabric& network = simulation_.network();
  int calls = 0;
  const auto count = [&calls] { ++calls; };
  network.CallWhenOpen({"c", "s"}, count);
  EXPECT_EQ(calls, 1) << "nothing is cut";
  network.Cut({"c", "s"});
  network.Cut({"s", kEveryHost});
  network.CallWhenOpen({"c", "s"}, count);
  network.Heal({"c", "s"});
  EXPECT_EQ(calls, 1);
  network.Heal({"s", kEveryHost});
  EXPECT_EQ(calls, 2);
}

TEST_F(SimNetworkTest, FrameFaultEndsWithItsNumber) {
  NetworkFabric& network = simulation_.network();
  const uint64_t number = network.BeginFrameFault(
      {kEveryHost, "s"}, FrameFault({.id = "late",
                                     .kind = FaultKind::kDelay,
                                     .with = {.latency = seconds(2)}},
                                    RandomStream(1, "late")));
  const Time begin = simulation_.now();
  RunBoth(
      [&](World& world, Channel& channel) {
        EXPECT_TRUE(channel.Send("late", kNever).ok());
        network.EndFrameFault(number);
        EXPECT_TRUE(channel.Send("behind it", kNever).ok());
        world.clock.SleepUntil(In(seconds(3)));
        EXPECT_TRUE(channel.Send("in time", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, kNever), Code::kUnavailable);
      },
      [&](World&, Channel& channel) {
        EXPECT_EQ(*channel.Receive(kNever), "late");
        EXPECT_EQ(*channel.Receive(kNever), "behind it");
        EXPECT_GE(simulation_.now(), begin + seconds(1));
        EXPECT_EQ(*channel.Receive(kNever), "in time");
        EXPECT_LT(simulation_.now(), begin + seconds(4));
      });
}

TEST_F(SimNetworkTest, SenderIntoACutWaitsForRoomUntilItsDeadline) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 1, .network = {.window_bytes = 100}});
  NetworkFabric& network = simulation.network();
  simulation.Start({.name = "server", .host = "s", .body = [](World& world) {
                      auto listener = world.network.Listen("s:80");
                      auto caller = (*listener)->Accept(kNever);
                      while (caller->channel->Receive(kNever).ok()) {
                      }
                      return 0;
                    }});
  simulation.Start({.name = "client", .host = "c", .body = [&](World& world) {
                      auto channel = world.network.Connect("s:80", kNever);
                      EXPECT_TRUE((*channel)->Send("first", kNever).ok());
                      world.clock.SleepUntil(world.clock.Now() + seconds(1));
                      network.Cut({"c", "s"});
                      const Frame frame(60, 'x');
                      EXPECT_TRUE((*channel)->Send(frame, kNever).ok());
                      const Time deadline = world.clock.Now() + seconds(2);
                      EXPECT_EQ((*channel)->Send(frame, deadline).code(),
                                Code::kDeadlineExceeded);
                      EXPECT_GE(world.clock.Now(), deadline);
                      simulation.At(world.clock.Now() + seconds(2), [&] {
                        network.Heal({"c", "s"});
                      });
                      EXPECT_TRUE((*channel)->Send(frame, kNever).ok());
                      return 0;
                    }});
  EXPECT_EQ(simulation.Run().end, RunEnd::kAllExited);
}

TEST_F(SimNetworkTest, DisconnectsACallerThatIsSilentForTooLong) {
  simulation_.Start({.name = "server", .host = "s", .body = [](World& world) {
                       auto listener = world.network.Listen("s:80");
                       const auto until = [&](Duration patience) {
                         return (*listener)
                             ->Accept(world.clock.Now() + patience)
                             .status()
                             .code();
                       };
                       EXPECT_EQ(until(kMaxSilence + seconds(1)),
                                 Code::kDeadlineExceeded);
                       EXPECT_EQ(until(seconds(5)), Code::kDeadlineExceeded);
                       return 0;
                     }});
  simulation_.Start({.name = "client", .host = "c", .body = [&](World& world) {
                       auto channel = world.network.Connect("s:80", kNever);
                       EXPECT_EQ(ReceiveCode(**channel, In(kMaxSilence)),
                                 Code::kDeadlineExceeded);
                       EXPECT_EQ(ReceiveCode(**channel, In(seconds(3))),
                                 Code::kUnavailable);
                       return 0;
                     }});
  EXPECT_EQ(simulation_.Run().end, RunEnd::kAllExited);
}

TEST_F(SimNetworkTest, KilledListenerFreesItsAddress) {
  const auto listen = [&](World& world) {
    const auto listener = world.network.Listen("s:80");
    EXPECT_TRUE(listener.ok()) << listener.status().ToString();
    simulation_.Kill(simulation_.self());
    return 0;
  };
  for (int incarnation = 0; incarnation < 3; ++incarnation) {
    simulation_.Start({.name = "server", .host = "s", .body = listen});
    simulation_.Run();
  }
}

}  // namespace
}  // namespace gauntlet
