#include "chaos/inject/faulty_network.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "chaos/inject/network_edge.h"
#include "chaos/sim/simulation.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Fault NetworkFault(FaultKind kind, const FaultParameters& with = {}) {
  return {.id = "fault", .kind = kind, .with = with};
}

// A connection whose client end goes through a FaultyNetwork.
class FaultyNetworkTest : public testing::Test {
 protected:
  using Client = std::function<void(World&, FaultyNetwork&, Channel&)>;
  using Server = std::function<void(World&, Channel&)>;

  void RunBoth(const Client& client, const Server& server) {
    simulation_.Start(
        {.name = "server", .host = "s", .body = [&](World& world) {
           auto listener = world.network.Listen("s:80");
           auto caller = (*listener)->Accept(kNever);
           if (caller.ok()) server(world, *caller->channel);
           return 0;
         }});
    simulation_.Start(
        {.name = "client", .host = "c", .body = [&](World& world) {
           FaultyNetwork network(world.network, world.clock, world.tasks, 5);
           auto channel = network.Connect("s:80", kNever);
           if (channel.ok() && (*channel)->Send("first", kNever).ok()) {
             client(world, network, **channel);
           }
           return 0;
         }});
    const RunOutcome outcome = simulation_.Run();
    EXPECT_EQ(outcome.end, RunEnd::kAllExited) << outcome.report;
  }
  Time In(Duration duration) { return simulation_.now() + duration; }
  Code ReceiveCode(Channel& channel, Duration patience) {
    return channel.Receive(In(patience)).status().code();
  }

  FiberPool pool_;
  Simulation simulation_{pool_, {.seed = 4}};
  const Time begin_ = simulation_.now();
};

TEST_F(FaultyNetworkTest, PartitionHoldsFramesOfBothWaysUntilItIsHealed) {
  RunBoth(
      [&](World&, FaultyNetwork& network, Channel& channel) {
        network.BeginFault(
            NetworkFault(FaultKind::kPartition, {.duration = seconds(3)}));
        EXPECT_TRUE(channel.Send("one", kNever).ok());
        EXPECT_TRUE(channel.Send("two", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, seconds(1)), Code::kDeadlineExceeded);
        EXPECT_EQ(*channel.Receive(kNever), "from the server");
        EXPECT_GE(simulation_.now(), begin_ + seconds(3));
        EXPECT_EQ(*channel.Receive(kNever), "got both");
      },
      [&](World&, Channel& channel) {
        EXPECT_TRUE(channel.Send("from the server", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, seconds(2)), Code::kDeadlineExceeded);
        EXPECT_EQ(*channel.Receive(kNever), "one");
        EXPECT_EQ(*channel.Receive(kNever), "two");
        EXPECT_GE(simulation_.now(), begin_ + seconds(3));
        EXPECT_TRUE(channel.Send("got both", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, seconds(1)), Code::kUnavailable);
      });
}

TEST_F(FaultyNetworkTest, PermanentPartition_HidesTheExitOfThePeer) {
  RunBoth(
      [&](World&, FaultyNetwork& network, Channel& channel) {
        network.BeginFault(NetworkFault(FaultKind::kPartition));
        EXPECT_EQ(ReceiveCode(channel, seconds(60)), Code::kDeadlineExceeded);
      },
      [](World&, Channel&) {});
}

TEST_F(FaultyNetworkTest, SendTimesOut_IfTooManyBytesAreHeld) {
  RunBoth(
      [&](World&, FaultyNetwork& network, Channel& channel) {
        network.BeginFault(NetworkFault(FaultKind::kPartition));
        const Frame large(kMaxFrameBytes, 'x');
        for (size_t held = 0; held < NetworkEdge::kMaxHeldBytes;
             held += large.size()) {
          EXPECT_TRUE(channel.Send(large, In(seconds(1))).ok());
        }
        const Time deadline = In(seconds(1));
        EXPECT_EQ(channel.Send(large, deadline).code(),
                  Code::kDeadlineExceeded);
        EXPECT_GE(simulation_.now(), deadline);
      },
      [](World&, Channel&) {});
}

TEST_F(FaultyNetworkTest, OneWayLeavesTheOtherWayOpen) {
  for (const LinkDirection direction :
       {LinkDirection::kOut, LinkDirection::kIn}) {
    const bool out = direction == LinkDirection::kOut;
    RunBoth(
        [&](World& world, FaultyNetwork& network, Channel& channel) {
          network.BeginFault(NetworkFault(FaultKind::kAsymmetricPartition,
                                          {.link_direction = direction}));
          EXPECT_TRUE(channel.Send("ping", kNever).ok());
          EXPECT_EQ(ReceiveCode(channel, seconds(1)),
                    out ? Code::kOk : Code::kDeadlineExceeded);
          world.clock.SleepUntil(In(seconds(1)));
        },
        [&](World& world, Channel& channel) {
          EXPECT_TRUE(channel.Send("pong", kNever).ok());
          EXPECT_EQ(ReceiveCode(channel, milliseconds(500)),
                    out ? Code::kDeadlineExceeded : Code::kOk);
          world.clock.SleepUntil(In(seconds(2)));
        });
  }
}

TEST_F(FaultyNetworkTest, DelayIsOfEachFrameAndKeepsTheOrder) {
  constexpr int kFrames = 20;
  RunBoth(
      [&](World&, FaultyNetwork& network, Channel& channel) {
        network.BeginFault(NetworkFault(
            FaultKind::kDelay,
            {.latency = milliseconds(300), .jitter = milliseconds(400)}));
        for (int i = 0; i < kFrames; ++i) {
          EXPECT_TRUE(channel.Send(std::to_string(i), kNever).ok());
        }
        EXPECT_EQ(*channel.Receive(kNever), "thanks");
        EXPECT_GE(simulation_.now(), begin_ + milliseconds(600));
      },
      [&](World&, Channel& channel) {
        EXPECT_EQ(*channel.Receive(kNever), "0");
        EXPECT_GE(simulation_.now(), begin_ + milliseconds(300));
        for (int i = 1; i < kFrames; ++i) {
          EXPECT_EQ(*channel.Receive(kNever), std::to_string(i));
        }
        EXPECT_LT(simulation_.now(), begin_ + milliseconds(800));
        EXPECT_TRUE(channel.Send("thanks", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, seconds(2)), Code::kUnavailable);
      });
}

// Frames that arrive at shorter intervals than the delay do not add to each
// other's delay.
TEST_F(FaultyNetworkTest, DelaysOfIncomingFramesDoNotAddUp) {
  constexpr int kFrames = 20;
  RunBoth(
      [&](World&, FaultyNetwork& network, Channel& channel) {
        network.BeginFault(
            NetworkFault(FaultKind::kDelay, {.latency = milliseconds(500)}));
        for (int i = 0; i < kFrames; ++i) {
          EXPECT_EQ(*channel.Receive(kNever), std::to_string(i));
          const Time sent = begin_ + i * milliseconds(200);
          EXPECT_GE(simulation_.now(), sent + milliseconds(500)) << i;
          EXPECT_LT(simulation_.now(), sent + milliseconds(550)) << i;
        }
      },
      [&](World& world, Channel& channel) {
        for (int i = 0; i < kFrames; ++i) {
          world.clock.SleepUntil(begin_ + i * milliseconds(200));
          EXPECT_TRUE(channel.Send(std::to_string(i), kNever).ok());
        }
        EXPECT_EQ(ReceiveCode(channel, seconds(5)), Code::kUnavailable);
      });
}

// The simulated network must delay frames as FaultyNetwork does.
TEST_F(FaultyNetworkTest, SimulatedNetworkDelaysInTheSameWay) {
  simulation_.network().BeginFrameFault(
      {"s", "c"}, FrameFault(NetworkFault(FaultKind::kDelay,
                                          {.latency = milliseconds(500)}),
                             RandomStream(1, "delay")));
  constexpr int kFrames = 20;
  RunBoth(
      [&](World&, FaultyNetwork&, Channel& channel) {
        for (int i = 0; i < kFrames; ++i) {
          EXPECT_EQ(*channel.Receive(kNever), std::to_string(i));
          const Time sent = begin_ + seconds(1) + i * milliseconds(200);
          EXPECT_GE(simulation_.now(), sent + milliseconds(500)) << i;
          EXPECT_LT(simulation_.now(), sent + milliseconds(550)) << i;
        }
      },
      [&](World& world, Channel& channel) {
        for (int i = 0; i < kFrames; ++i) {
          world.clock.SleepUntil(begin_ + seconds(1) + i * milliseconds(200));
          EXPECT_TRUE(channel.Send(std::to_string(i), kNever).ok());
        }
        EXPECT_EQ(ReceiveCode(channel, seconds(5)), Code::kUnavailable);
      });
}

TEST_F(FaultyNetworkTest, CloseWakesReceiverDuringPartition) {
  RunBoth(
      [&](World& world, FaultyNetwork& network, Channel& channel) {
        const auto receiver = world.tasks.Spawn("receiver", [&] {
          EXPECT_EQ(ReceiveCode(channel, seconds(60)), Code::kUnavailable);
        });
        world.clock.SleepUntil(In(milliseconds(100)));
        network.BeginFault(NetworkFault(FaultKind::kPartition));
        world.clock.SleepUntil(In(seconds(2)));
        channel.Close();
        receiver->Join();
        EXPECT_LT(simulation_.now(), begin_ + seconds(3));
      },
      [&](World& world, Channel& channel) {
        world.clock.SleepUntil(In(seconds(1)));
        EXPECT_TRUE(channel.Send("held back", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, seconds(60)), Code::kUnavailable);
      });
}

TEST_F(FaultyNetworkTest, NextSendReportsALostConnection) {
  RunBoth(
      [&](World& world, FaultyNetwork& network, Channel& channel) {
        network.BeginFault(
            NetworkFault(FaultKind::kDelay, {.latency = seconds(1)}));
        EXPECT_TRUE(channel.Send("comes too late", kNever).ok());
        world.clock.SleepUntil(In(seconds(3)));
        EXPECT_EQ(channel.Send("more", kNever).code(), Code::kUnavailable);
        EXPECT_EQ(ReceiveCode(channel, seconds(5)), Code::kUnavailable);
      },
      [](World&, Channel& channel) { channel.Close(); });
}

TEST_F(FaultyNetworkTest, LateFramesAreSentBeforeTheClose) {
  RunBoth(
      [&](World& world, FaultyNetwork& network, Channel& channel) {
        network.BeginFault(
            NetworkFault(FaultKind::kDelay, {.latency = milliseconds(300)}));
        EXPECT_TRUE(channel.Send("last words", kNever).ok());
        channel.Close();
        EXPECT_EQ(ReceiveCode(channel, seconds(1)), Code::kUnavailable);
        world.clock.SleepUntil(In(seconds(1)));
      },
      [&](World&, Channel& channel) {
        EXPECT_EQ(*channel.Receive(kNever), "last words");
        EXPECT_EQ(ReceiveCode(channel, seconds(5)), Code::kUnavailable);
      });
}

TEST_F(FaultyNetworkTest, LostFramesAreSentAgainAndHoldUpTheOthers) {
  constexpr int kFrames = 100;
  RunBoth(
      [&](World&, FaultyNetwork& network, Channel& channel) {
        network.BeginFault(
            NetworkFault(FaultKind::kPacketLoss, {.percent = 30}));
        for (int i = 0; i < kFrames; ++i) {
          EXPECT_TRUE(channel.Send(std::to_string(i), kNever).ok());
        }
        EXPECT_EQ(ReceiveCode(channel, seconds(3600)), Code::kUnavailable);
      },
      [&](World&, Channel& channel) {
        for (int i = 0; i < kFrames; ++i) {
          EXPECT_EQ(*channel.Receive(kNever), std::to_string(i));
        }
        EXPECT_GE(simulation_.now(), begin_ + milliseconds(200));
      });
}

void ReceiveTwice(Channel& channel, const Frame& frame) {
  EXPECT_EQ(*channel.Receive(kNever), frame);
  EXPECT_EQ(*channel.Receive(kNever), frame);
}

TEST_F(FaultyNetworkTest, DuplicateDoublesTheFramesOfBothWaysWhileItLasts) {
  RunBoth(
      [&](World& world, FaultyNetwork& network, Channel& channel) {
        network.BeginFault(
            NetworkFault(FaultKind::kDuplicate, {.duration = seconds(1)}));
        EXPECT_TRUE(channel.Send("ping", kNever).ok());
        ReceiveTwice(channel, "pong");
        world.clock.SleepUntil(In(seconds(2)));
        EXPECT_TRUE(channel.Send("last", kNever).ok());
        EXPECT_EQ(*channel.Receive(kNever), "thanks");
      },
      [&](World&, Channel& channel) {
        ReceiveTwice(channel, "ping");
        EXPECT_TRUE(channel.Send("pong", kNever).ok());
        EXPECT_EQ(*channel.Receive(kNever), "last");
        EXPECT_TRUE(channel.Send("thanks", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, seconds(1)), Code::kUnavailable);
      });
}

TEST_F(FaultyNetworkTest, DuplicateDoublesTheFirstFrameOfACaller) {
  RunBoth(
      [&](World& world, FaultyNetwork& network, Channel&) {
        network.BeginFault(NetworkFault(FaultKind::kDuplicate));
        auto listener = network.Listen("c:80");
        auto caller = (*listener)->Accept(kNever);
        EXPECT_EQ(caller->first, "hello");
        EXPECT_EQ(*caller->channel->Receive(kNever), "hello");
        ReceiveTwice(*caller->channel, "next");
        world.clock.SleepUntil(In(seconds(1)));
      },
      [&](World& world, Channel&) {
        auto channel = world.network.Connect("c:80", kNever);
        EXPECT_TRUE((*channel)->Send("hello", kNever).ok());
        EXPECT_TRUE((*channel)->Send("next", kNever).ok());
        world.clock.SleepUntil(In(seconds(1)));
      });
}

TEST_F(FaultyNetworkTest, SimulatedNetworkDoublesInTheSameWay) {
  const uint64_t number = simulation_.network().BeginFrameFault(
      {"s", "c"}, FrameFault(NetworkFault(FaultKind::kDuplicate),
                             RandomStream(1, "duplicate")));
  RunBoth(
      [&](World&, FaultyNetwork&, Channel& channel) {
        ReceiveTwice(channel, "pong");
        simulation_.network().EndFrameFault(number);
        EXPECT_TRUE(channel.Send("ping", kNever).ok());
        EXPECT_EQ(*channel.Receive(kNever), "thanks");
      },
      [&](World&, Channel& channel) {
        EXPECT_TRUE(channel.Send("pong", kNever).ok());
        EXPECT_EQ(*channel.Receive(kNever), "ping");
        EXPECT_TRUE(channel.Send("thanks", kNever).ok());
        EXPECT_EQ(ReceiveCode(channel, seconds(1)), Code::kUnavailable);
      });
}

TEST_F(FaultyNetworkTest, ResetBreaksBothEndsAndNewConnectionsWork) {
  RunBoth(
      [&](World& world, FaultyNetwork& network, Channel& channel) {
        const auto receiver = world.tasks.Spawn("receiver", [&] {
          EXPECT_EQ(ReceiveCode(channel, seconds(60)), Code::kUnavailable);
        });
        world.clock.SleepUntil(In(seconds(1)));
        network.BeginFault(NetworkFault(FaultKind::kConnectionReset));
        receiver->Join();
        EXPECT_LT(simulation_.now(), begin_ + seconds(2));
        EXPECT_EQ(channel.Send("x", kNever).code(), Code::kUnavailable);
        auto again = network.Connect("s:81", In(seconds(5)));
        EXPECT_TRUE(again.ok()) << again.status().ToString();
        EXPECT_TRUE((*again)->Send("first", kNever).ok());
      },
      [&](World& world, Channel& channel) {
        EXPECT_EQ(ReceiveCode(channel, seconds(60)), Code::kUnavailable);
        auto listener = world.network.Listen("s:81");
        EXPECT_TRUE((*listener)->Accept(In(seconds(5))).ok());
      });
}

TEST_F(FaultyNetworkTest, ConnectWaitsForTheEndOfACut) {
  RunBoth(
      [&](World&, FaultyNetwork& network, Channel&) {
        network.BeginFault(NetworkFault(FaultKind::kAsymmetricPartition,
                                        {.duration = seconds(4)}));
        EXPECT_EQ(network.Connect("s:80", In(seconds(1))).status().code(),
                  Code::kDeadlineExceeded);
        EXPECT_TRUE(network.Connect("s:80", In(seconds(10))).ok());
        EXPECT_GE(simulation_.now(), begin_ + seconds(4));
      },
      [](World& world, Channel&) {
        world.clock.SleepUntil(world.clock.Now() + seconds(6));
      });
}

TEST_F(FaultyNetworkTest, CloseWakesAReceiverDuringACut) {
  RunBoth(
      [&](World& world, FaultyNetwork& network, Channel& channel) {
        const auto receiver = world.tasks.Spawn("receiver", [&] {
          EXPECT_EQ(ReceiveCode(channel, seconds(60)), Code::kUnavailable);
        });
        world.clock.SleepUntil(In(seconds(1)));
        network.BeginFault(NetworkFault(FaultKind::kPartition));
        EXPECT_TRUE(channel.Send("never sent", kNever).ok());
        channel.Close();
        receiver->Join();
        EXPECT_LT(simulation_.now(), begin_ + seconds(2));
      },
      [&](World&, Channel& channel) {
        EXPECT_EQ(ReceiveCode(channel, seconds(60)), Code::kUnavailable);
      });
}

}  // namespace
}  // namespace gauntlet
