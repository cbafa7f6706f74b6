#include <gtest/gtest.h>

#include "chaos/sim/simulation.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A client on host "c" and a server on host "s" with a connection between them.
class SimNetworkTest : public testing::Test {
 protected:
  using End = std::function<void(World&, Channel&)>;

  void RunBoth(End client, End server) {
    server_ = simulation_.Start(
        {.name = "server", .host = "s", .body = [server](World& world) {
           auto listener = world.network.Listen("s:80");
           auto channel = (*listener)->Accept(kNever);
           if (channel.ok()) server(world, **channel);
           return 0;
         }});
    client_ = simulation_.Start(
        {.name = "client", .host = "c", .body = [client](World& world) {
           auto channel = world.network.Connect("s:80", kNever);
           if (channel.ok()) client(world, **channel);
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

TEST_F(SimNetworkTest, AKilledProcessBreaksItsConnections) {
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

TEST_F(SimNetworkTest, APowerLossIsSilentUntilTheOtherEndSends) {
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

TEST_F(SimNetworkTest, ACutHoldsFramesBackAndHealingDeliversThem) {
  NetworkFabric& network = simulation_.network();
  RunBoth(
      [&](World&, Channel& channel) {
        network.Cut("c", "s");
        EXPECT_TRUE(channel.Send("one", kNever).ok());
        EXPECT_TRUE(channel.Send("two", kNever).ok());
        After(seconds(3), [&] { network.Heal("c", "s"); });
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

TEST_F(SimNetworkTest, AOneWayCutLeavesTheOtherWayOpen) {
  RunBoth(
      [&](World&, Channel& channel) {
        simulation_.network().Cut("c", "s");
        EXPECT_TRUE(channel.Send("lost for now", kNever).ok());
        EXPECT_EQ(*channel.Receive(In(seconds(5))), "hello");
        simulation_.network().HealAll();
      },
      [&](World&, Channel& channel) {
        EXPECT_TRUE(channel.Send("hello", kNever).ok());
        EXPECT_EQ(*channel.Receive(kNever), "lost for now");
      });
}

TEST_F(SimNetworkTest, ACutHidesTheDeathOfTheOtherEnd) {
  RunBoth(
      [&](World&, Channel& channel) {
        simulation_.network().Cut("s", "c");
        simulation_.Kill(server_);
        EXPECT_EQ(ReceiveCode(channel, In(seconds(30))),
                  Code::kDeadlineExceeded);
        simulation_.network().Heal("s", "c");
        EXPECT_EQ(ReceiveCode(channel, In(seconds(30))), Code::kUnavailable);
      },
      [&](World&, Channel&) { simulation_.Hang(); });
}

TEST_F(SimNetworkTest, ConnectWaitsForACutToHeal) {
  simulation_.network().Cut("s", "c");
  const Time begin = simulation_.now();
  After(seconds(2), [&] { simulation_.network().Heal("s", "c"); });
  RunBoth([&](World& world,
              Channel&) { EXPECT_GE(world.clock.Now(), begin + seconds(2)); },
          [](World&, Channel&) {});
}

TEST_F(SimNetworkTest, ConnectGivesUpWhileCut) {
  simulation_.network().Cut("c", "s");
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

TEST_F(SimNetworkTest, ADelayIsAddedToTheLatency) {
  simulation_.network().SetDelay("c", "s", milliseconds(800));
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

TEST_F(SimNetworkTest, AResetBreaksBothEndsAndLosesWhatIsUnderWay) {
  RunBoth(
      [&](World&, Channel& channel) {
        EXPECT_TRUE(channel.Send("lost", kNever).ok());
        simulation_.network().Reset("s", "c");
        EXPECT_EQ(ReceiveCode(channel, kNever), Code::kUnavailable);
      },
      [&](World&, Channel& channel) {
        EXPECT_EQ(ReceiveCode(channel, kNever), Code::kUnavailable);
      });
}

TEST_F(SimNetworkTest, AKilledListenerFreesItsAddress) {
  const auto listen = [&](World& world) {
    const auto listener = world.network.Listen("s:80");
    EXPECT_TRUE(listener.ok()) << listener.status().ToString();
    simulation_.Kill(simulation_.self());
    return 0;
  };
  for (int life = 0; life < 3; ++life) {
    simulation_.Start({.name = "server", .host = "s", .body = listen});
    simulation_.Run();
  }
}

}  // namespace
}  // namespace gauntlet
