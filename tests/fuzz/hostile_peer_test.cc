// A job of two workers, and a stranger that sends a thousand hostile hellos and
// frames to its chief: no frame aborts the job, costs memory permanently, or
// changes a bit.
#include <chrono>

#include <gtest/gtest.h>

#include "chaos/sim/scheduler/random_stream.h"
#include "engine/cluster/session/session.h"
#include "engine/train/rendezvous/common_settings.h"
#include "engine/train/rendezvous/rendezvous_messages.h"
#include "tests/engine/train/training_fixture.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kFrames = 1200;

// Returns the introduction of rank 1, with this job.
std::string Introduce(const std::string& job) {
  return EncodeIntroduction({.settings = EncodeCommonSettings(SmallRun(), job),
                             .held = {},
                             .offer = {}});
}

Hello HelloWith(std::string payload) {
  return {.rank = 1, .payload = std::move(payload)};
}

// Returns frames that are each refused for a different reason.
std::vector<Frame> WorstCases() {
  std::vector<Frame> frames = {
      "",
      std::string(kMaxFirstFrameBytes + 1, 'x'),
      std::string(200, '\xff'),
      std::string(64, '\0'),
      "GET / HTTP/1.1",
      EncodeControl(Hello{.rank = 0}),
      EncodeControl(Hello{.rank = ~0u}),
      EncodeControl(Hello{.rank = 1, .incarnation = ~uint64_t{0}}),
      EncodeControl(Hello{.rank = 1, .generation = ~uint64_t{0}}),
      EncodeControl(Hello{.role = ChannelRole::kRing, .rank = 1}),
      EncodeControl(HelloWith("no payload")),
      EncodeControl(Welcome()),
      EncodeControl(Bye())};
  for (const std::string& job :
       {std::string("[]"), std::string("1"), std::string("null"),
        std::string(100000, '['), std::string(), std::string("{\"\xc0\":1"),
        "{\"a\":\"" + std::string(900 << 10, 'x') + "\""}) {
    frames.push_back(EncodeControl(HelloWith(Introduce(job))));
  }
  return frames;
}

// Changes, truncates or repeats one piece of a valid hello. If the result is
// still a hello, gives it a rank that does not exist.
Frame Mutated(RandomStream& random) {
  Frame frame = EncodeControl(HelloWith(Introduce(R"({"seed":1})")));
  const size_t at = random.Below(frame.size());
  switch (random.Below(3)) {
    case 0:
      frame[at] = static_cast<char>(random.Next());
      break;
    case 1:
      frame.resize(at);
      break;
    default:
      frame.insert(at, frame.substr(random.Below(frame.size())));
  }
  Result<ControlMessage> message = DecodeControl(frame);
  if (!message.ok() || !std::holds_alternative<Hello>(*message)) return frame;
  std::get<Hello>(*message).rank = 2;
  return EncodeControl(*message);
}

std::vector<Frame> HostileFrames(uint64_t seed) {
  RandomStream random(seed, "hostile");
  std::vector<Frame> frames = WorstCases();
  while (frames.size() < kFrames) frames.push_back(Mutated(random));
  return frames;
}

// Sends each frame over a connection of its own. Returns how many connections
// ended with an answer or by being closed.
size_t SendAll(World& world, const std::string& address,
               const std::vector<Frame>& frames) {
  const Time deadline = world.clock.Now() + seconds(60);
  std::vector<std::unique_ptr<Channel>> channels;
  size_t ended = 0;
  const auto end_all = [&] {
    for (const auto& channel : channels) {
      const Status answer = channel->Receive(deadline).status();
      if (answer.ok() || answer.code() == Code::kUnavailable) ++ended;
    }
    channels.clear();
  };
  for (const Frame& frame : frames) {
    auto channel =
        world.network.Connect(address, world.clock.Now() + seconds(2));
    if (!channel.ok()) break;  // the job has ended
    if (!(*channel)->Send(frame, deadline).ok()) continue;
    channels.push_back(*std::move(channel));
    if (channels.size() == kMaxWaitingCallers / 2) end_all();
  }
  end_all();
  return ended;
}

AttemptResult RunWithStranger(const std::vector<Frame>& frames, size_t& ended,
                              Duration pause) {
  TrainingFixture fixture;
  // The first worker gets the next port.
  const int port = fixture.simulation().AllocatePort() + 1;
  const std::string address = fmt::format("w0:{}", 7000 + port);
  fixture.simulation().Start(
      {.name = "stranger", .host = "stranger", .body = [&](World& world) {
         world.clock.SleepUntil(world.clock.Now() + pause);
         ended = SendAll(world, address, frames);
         return 0;
       }});
  TrainOptions options = SmallRun();
  return fixture.Run(2, options);
}

TEST(HostilePeerTest, ThousandHostileHellosChangeNoBitOfAJob) {
  const std::string expected =
      TrainingFixture().Run(2, SmallRun()).result->digest;
  for (const uint64_t seed : {1, 2}) {
    size_t ended = 0;
    const AttemptResult outcome =
        RunWithStranger(HostileFrames(seed), ended, Duration::zero());
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone))
        << outcome.reasons[0] << "; " << outcome.reasons[1];
    ASSERT_TRUE(outcome.result.has_value());
    EXPECT_EQ(outcome.result->digest, expected);
    EXPECT_GT(ended, 0u);
  }
}

// Sends all hostile hellos to a chief that waits for a worker.
TEST(HostilePeerTest, ThousandHostileHellosKeepNoWorkerOut) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 3});
  const auto kernels = Kernels::Create({.isa = Isa::kScalar}).value();
  SessionOptions options = {.addresses = {"w0:1", "w1:1"},
                            .insecure = true,
                            .rendezvous_timeout = seconds(100)};
  options.check_hello_payload = [](std::string_view bytes) {
    return CheckIntroduction(bytes, "");
  };
  const auto join = [&](int rank) {
    return [&, rank](World& world) {
      SessionOptions mine = options;
      mine.rank = rank;
      mine.hello_payload = Introduce("{}");
      const auto session = Session::Form(
          world, *kernels, mine, [](const std::vector<JoinedWorker>&) {
            return Result<Decision>(Decision{.generation = 1});
          });
      EXPECT_TRUE(session.ok()) << session.status().ToString();
      if (session.ok()) (*session)->Leave();
      return 0;
    };
  };
  simulation.Start({.name = "w0", .host = "w0", .body = join(0)});
  size_t ended = 0;
  simulation.Start({.name = "stranger", .host = "s", .body = [&](World& world) {
                      ended = SendAll(world, "w0:1", HostileFrames(4));
                      simulation.Start(
                          {.name = "w1", .host = "w1", .body = join(1)});
                      return 0;
                    }});
  EXPECT_EQ(simulation.Run().end, RunEnd::kAllExited);
  EXPECT_EQ(ended, kFrames);
}

}  // namespace
}  // namespace gauntlet
