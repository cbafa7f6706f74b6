#include <set>
#include <vector>

#include "tests/contract/world_fixture.h"

namespace gauntlet {
namespace {

// The two ends of a connection.
struct Pair {
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Channel> client;
  std::unique_ptr<Channel> server;
};

Pair Connected(World& world, const std::string& address,
               const WorldKind& kind) {
  const Time deadline = world.clock.Now() + std::chrono::seconds(10);
  Pair pair;
  auto listener = world.network.Listen(address);
  EXPECT_TRUE(listener.ok()) << listener.status().ToString();
  pair.listener = *std::move(listener);
  const auto connector = world.tasks.Spawn("connector", [&] {
    auto client = world.network.Connect(address, deadline);
    EXPECT_TRUE(client.ok()) << client.status().ToString();
    pair.client = *std::move(client);
    EXPECT_TRUE(pair.client->Send(kind.first_frame, deadline).ok());
  });
  auto server = pair.listener->Accept(deadline);
  EXPECT_TRUE(server.ok()) << server.status().ToString();
  EXPECT_EQ(server->first, kind.first_frame);
  pair.server = std::move(server->channel);
  connector->Join();
  if (kind.await_connection) kind.await_connection();
  return pair;
}

// Returns bytes that do not repeat, so that a shifted copy differs.
Frame Pattern(size_t bytes) {
  Frame frame(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) {
    frame[i] = static_cast<char>((i * 2654435761u) >> 13);
  }
  return frame;
}

TEST_P(NetworkContract, RefusesAMalformedAddress) {
  InWorld([](World& world) {
    for (const char* address : {"", "host", "host:", ":80", "host:x",
                                "host:70000", "host:-1", "host:80x"}) {
      EXPECT_EQ(world.network.Listen(address).status().code(),
                Code::kInvalidArgument)
          << address;
      EXPECT_EQ(world.network.Connect(address, world.clock.Now() + kShort)
                    .status()
                    .code(),
                Code::kInvalidArgument)
          << address;
    }
  });
}

TEST_P(NetworkContract, RefusesAnAddressThatIsTaken) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    auto listener = world.network.Listen(address);
    ASSERT_TRUE(listener.ok()) << listener.status().ToString();
    EXPECT_EQ(world.network.Listen(address).status().code(),
              Code::kAlreadyExists);
  });
}

TEST_P(NetworkContract, FreesTheAddressOfADestroyedListener) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    {
      auto first = world.network.Listen(address);
      ASSERT_TRUE(first.ok()) << first.status().ToString();
    }
    auto second = world.network.Listen(address);
    EXPECT_TRUE(second.ok()) << second.status().ToString();
  });
}

TEST_P(NetworkContract, ConnectGivesUpAtTheDeadline) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Time deadline = world.clock.Now() + kShort;
    EXPECT_EQ(world.network.Connect(address, deadline).status().code(),
              Code::kDeadlineExceeded);
    EXPECT_GE(world.clock.Now(), deadline);
  });
}

TEST_P(NetworkContract, ConnectWaitsForAListener) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Time deadline = world.clock.Now() + kSoon;
    const auto late = world.tasks.Spawn("late listener", [&] {
      world.clock.SleepUntil(world.clock.Now() + kShort);
      auto listener = world.network.Listen(address);
      ASSERT_TRUE(listener.ok()) << listener.status().ToString();
      auto caller = (*listener)->Accept(deadline);
      ASSERT_TRUE(caller.ok()) << caller.status().ToString();
      EXPECT_TRUE(caller->channel->Send("welcome", deadline).ok());
      EXPECT_FALSE(caller->channel->Receive(deadline).ok());
    });
    auto channel = world.network.Connect(address, deadline);
    EXPECT_TRUE(channel.ok()) << channel.status().ToString();
    EXPECT_TRUE((*channel)->Send("first", deadline).ok());
    EXPECT_EQ(*(*channel)->Receive(deadline), "welcome");
    (*channel)->Close();
    late->Join();
  });
}

TEST_P(NetworkContract, AcceptEndsAtTheDeadline) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    auto listener = world.network.Listen(address);
    ASSERT_TRUE(listener.ok()) << listener.status().ToString();
    const Time deadline = world.clock.Now() + kShort;
    EXPECT_EQ((*listener)->Accept(deadline).status().code(),
              Code::kDeadlineExceeded);
    EXPECT_GE(world.clock.Now(), deadline);
  });
}

TEST_P(NetworkContract, OneListenerAcceptsManyConnections) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Time deadline = world.clock.Now() + kSoon;
    auto listener = world.network.Listen(address);
    ASSERT_TRUE(listener.ok()) << listener.status().ToString();
    std::vector<std::unique_ptr<Task>> clients;
    for (int i = 0; i < 4; ++i) {
      clients.push_back(world.tasks.Spawn("client", [&, i] {
        auto channel = world.network.Connect(address, deadline);
        ASSERT_TRUE(channel.ok()) << channel.status().ToString();
        ASSERT_TRUE((*channel)->Send(std::to_string(i), deadline).ok());
        EXPECT_EQ(*(*channel)->Receive(deadline), std::to_string(i));
      }));
    }
    std::vector<std::unique_ptr<Channel>> channels;
    for (int i = 0; i < 4; ++i) {
      auto caller = (*listener)->Accept(deadline);
      ASSERT_TRUE(caller.ok()) << caller.status().ToString();
      EXPECT_TRUE(caller->channel->Send(caller->first, deadline).ok());
      channels.push_back(std::move(caller->channel));
    }
    for (const auto& client : clients) client->Join();
  });
}

TEST_P(NetworkContract, FramesArriveWholeAndInOrderBothWays) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    const Time deadline = world.clock.Now() + kSoon;
    const std::vector<Frame> frames = {
        "a", "", Pattern(4096), Pattern(size_t{4} << 20), "", Pattern(65537)};
    const auto stream = [&](Channel& from, Channel& to) {
      const auto sender = world.tasks.Spawn("sender", [&] {
        for (const Frame& frame : frames) {
          EXPECT_TRUE(from.Send(frame, deadline).ok());
        }
      });
      for (const Frame& frame : frames) {
        auto received = to.Receive(deadline);
        EXPECT_TRUE(received.ok()) << received.status().ToString();
        EXPECT_TRUE(received.ok() && *received == frame) << frame.size();
      }
      sender->Join();
    };
    stream(*pair.client, *pair.server);
    stream(*pair.server, *pair.client);
  });
}

TEST_P(NetworkContract, ManySmallFramesKeepTheirOrder) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    const Time deadline = world.clock.Now() + kSoon;
    const auto sender = world.tasks.Spawn("sender", [&] {
      for (int i = 0; i < 500; ++i) {
        EXPECT_TRUE(pair.client->Send(std::to_string(i), deadline).ok());
      }
    });
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(*pair.server->Receive(deadline), std::to_string(i));
    }
    sender->Join();
  });
}

TEST_P(NetworkContract, DeadlineLeavesTheChannelUsable) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    for (int i = 0; i < 3; ++i) {
      const Time deadline = world.clock.Now() + kShort / 3;
      EXPECT_EQ(pair.server->Receive(deadline).status().code(),
                Code::kDeadlineExceeded);
    }
    const Time later = world.clock.Now() + kSoon;
    EXPECT_TRUE(pair.client->Send("still here", later).ok());
    EXPECT_EQ(*pair.server->Receive(later), "still here");
  });
}

TEST_P(NetworkContract, CloseWakesBothEnds) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    const auto expect_lost = [&](Channel& channel) {
      return world.tasks.Spawn("receiver", [&] {
        EXPECT_EQ(channel.Receive(world.clock.Now() + kSoon).status().code(),
                  Code::kUnavailable);
      });
    };
    const auto near = expect_lost(*pair.client);
    const auto far = expect_lost(*pair.server);
    world.clock.SleepUntil(world.clock.Now() + kShort);
    pair.client->Close();
    near->Join();
    far->Join();
  });
}

TEST_P(NetworkContract, FramesSentBeforeCloseAreStillDelivered) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    const Time deadline = world.clock.Now() + kSoon;
    EXPECT_TRUE(pair.client->Send("one", deadline).ok());
    EXPECT_TRUE(pair.client->Send(Pattern(100'000), deadline).ok());
    pair.client->Close();
    EXPECT_EQ(*pair.server->Receive(deadline), "one");
    EXPECT_EQ(*pair.server->Receive(deadline), Pattern(100'000));
    EXPECT_EQ(pair.server->Receive(deadline).status().code(),
              Code::kUnavailable);
  });
}

TEST_P(NetworkContract, DestructionCloses) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    Pair pair = Connected(world, address, GetParam());
    pair.server.reset();
    EXPECT_EQ(pair.client->Receive(world.clock.Now() + kSoon).status().code(),
              Code::kUnavailable);
  });
}

TEST_P(NetworkContract, LostConnectionStaysLost) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    const Time deadline = world.clock.Now() + kSoon;
    pair.server->Close();
    EXPECT_EQ(pair.client->Receive(deadline).status().code(),
              Code::kUnavailable);
    EXPECT_EQ(pair.client->Receive(deadline).status().code(),
              Code::kUnavailable);
    EXPECT_EQ(pair.client->Send("x", deadline).code(), Code::kUnavailable);
    EXPECT_EQ(pair.server->Send("x", deadline).code(), Code::kUnavailable);
  });
}

TEST_P(NetworkContract, SendGivesUpWhenTooMuchIsUnderWayAndLosesNothingElse) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    const Frame large = Pattern(kMaxFrameBytes);
    constexpr int kTooMany = 128;
    int taken = 0;
    Status status;
    for (; taken < kTooMany && status.ok(); taken += status.ok() ? 1 : 0) {
      status = pair.client->Send(large, world.clock.Now() + 10 * kShort);
    }
    EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
    const Time deadline = world.clock.Now() + kSoon;
    for (int i = 0; i < taken; ++i) {
      EXPECT_TRUE(*pair.server->Receive(deadline) == large) << i;
    }
    EXPECT_TRUE(pair.client->Send("room again", deadline).ok());
    EXPECT_EQ(*pair.server->Receive(deadline), "room again");
  });
}

TEST_P(NetworkContract, CloseWakesASenderThatWaitsForRoom) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    const Time deadline = world.clock.Now() + kSoon;
    const auto sender = world.tasks.Spawn("sender", [&] {
      const Frame large = Pattern(kMaxFrameBytes);
      Status status;
      while (status.ok()) status = pair.client->Send(large, deadline);
      EXPECT_EQ(status.code(), Code::kUnavailable);
    });
    world.clock.SleepUntil(world.clock.Now() + 10 * kShort);
    pair.server->Close();
    sender->Join();
  });
}

TEST_P(NetworkContract, BothEndsSendAtOnce) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    const Time deadline = world.clock.Now() + kSoon;
    const auto exchange = [&](Channel& channel, const char* mine) {
      return world.tasks.Spawn("end", [&channel, mine, deadline] {
        for (int i = 0; i < 50; ++i) {
          EXPECT_TRUE(channel.Send(mine + std::to_string(i), deadline).ok());
          const auto theirs = channel.Receive(deadline);
          EXPECT_TRUE(theirs.ok() && theirs->ends_with(std::to_string(i)));
        }
      });
    };
    const auto client = exchange(*pair.client, "client ");
    const auto server = exchange(*pair.server, "server ");
    client->Join();
    server->Join();
  });
}

TEST_P(NetworkContract, EndOfOneConnectionLeavesTheOthers) {
  const std::string first_address = FreeAddress();
  const std::string second_address = FreeAddress();
  InWorld([&](World& world) {
    const Pair first = Connected(world, first_address, GetParam());
    const Pair second = Connected(world, second_address, GetParam());
    const Time deadline = world.clock.Now() + kSoon;
    first.client->Close();
    EXPECT_FALSE(first.server->Receive(deadline).ok());
    EXPECT_TRUE(second.client->Send("alive", deadline).ok());
    EXPECT_EQ(*second.server->Receive(deadline), "alive");
  });
}

TEST_P(NetworkContract, RefusesAFrameThatIsTooLarge_AndContinues) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Pair pair = Connected(world, address, GetParam());
    const Time deadline = world.clock.Now() + kSoon;
    EXPECT_EQ(
        pair.client->Send(Frame(kMaxFrameBytes + 1, 'x'), deadline).code(),
        Code::kInvalidArgument);
    EXPECT_TRUE(pair.client->Send(Frame(kMaxFrameBytes, 'x'), deadline).ok());
    EXPECT_EQ(pair.server->Receive(deadline)->size(), kMaxFrameBytes);
  });
}

TEST_P(NetworkContract, BothEndsShareAUniqueNonce) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    std::set<Nonce> nonces;
    for (int i = 0; i < 3; ++i) {
      const Pair pair = Connected(world, address, GetParam());
      EXPECT_EQ(pair.client->nonce(), pair.server->nonce());
      nonces.insert(pair.client->nonce());
    }
    EXPECT_EQ(nonces.size(), 3u);
    EXPECT_FALSE(nonces.contains(Nonce{}));
  });
}

TEST_P(NetworkContract, SilentCallerDelaysNoOtherCaller) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Time deadline = world.clock.Now() + kSoon;
    auto listener = world.network.Listen(address);
    ASSERT_TRUE(listener.ok()) << listener.status().ToString();
    auto silent = world.network.Connect(address, deadline);
    auto speaks = world.network.Connect(address, deadline);
    ASSERT_TRUE(silent.ok() && speaks.ok());
    EXPECT_EQ((*listener)->Accept(world.clock.Now() + kShort).status().code(),
              Code::kDeadlineExceeded);
    ASSERT_TRUE((*speaks)->Send("first", deadline).ok());
    EXPECT_EQ((*listener)->Accept(deadline)->first, "first");
    ASSERT_TRUE((*silent)->Send("at last", deadline).ok());
    EXPECT_EQ((*listener)->Accept(deadline)->first, "at last");
  });
}

TEST_P(NetworkContract, DisconnectsTheOldestOfTooManySilentCallers) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Time deadline = world.clock.Now() + kSoon;
    auto listener = world.network.Listen(address);
    ASSERT_TRUE(listener.ok()) << listener.status().ToString();
    std::vector<std::unique_ptr<Channel>> callers;
    for (size_t i = 0; i < kMaxSilentCallers + 1; ++i) {
      auto caller = world.network.Connect(address, deadline);
      ASSERT_TRUE(caller.ok()) << caller.status().ToString();
      callers.push_back(*std::move(caller));
    }
    EXPECT_EQ(callers.front()->Receive(deadline).status().code(),
              Code::kUnavailable);
    ASSERT_TRUE(callers[1]->Send("first", deadline).ok());
    EXPECT_EQ((*listener)->Accept(deadline)->first, "first");
  });
}

TEST_P(NetworkContract, DisconnectsNewestCaller_IfTooManyWaitForAccept) {
  const std::string address = FreeAddress();
  InWorld([&](World& world) {
    const Time deadline = world.clock.Now() + kSoon;
    auto listener = world.network.Listen(address);
    ASSERT_TRUE(listener.ok()) << listener.status().ToString();
    std::vector<std::unique_ptr<Channel>> callers;
    for (size_t i = 0; i < kMaxWaitingCallers + 1; ++i) {
      auto caller = world.network.Connect(address, deadline);
      ASSERT_TRUE(caller.ok()) << caller.status().ToString();
      ASSERT_TRUE((*caller)->Send("first", deadline).ok());
      callers.push_back(*std::move(caller));
      world.clock.SleepUntil(world.clock.Now() + std::chrono::milliseconds(5));
    }
    EXPECT_EQ(callers.back()->Receive(deadline).status().code(),
              Code::kUnavailable);
    for (size_t i = 0; i < kMaxWaitingCallers; ++i) {
      EXPECT_TRUE((*listener)->Accept(deadline).ok()) << i;
    }
  });
}

}  // namespace
}  // namespace gauntlet
