// A hostile peer of a cluster. It sends frames to a chief that waits for its
// workers, and as a member of a formed session.
#include <algorithm>
#include <chrono>
#include <vector>

#include "engine/cluster/link/chunk_format.h"
#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/numbered_channel.h"
#include "engine/cluster/ring/emulated_collective.h"
#include "tests/engine/cluster/cluster_fixture.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Splits the input into frames, each after its length in two bytes. The last
// frame may be shorter than its length says.
std::vector<Frame> FramesOf(std::string_view input) {
  std::vector<Frame> frames;
  while (input.size() >= 2) {
    const size_t size = static_cast<uint8_t>(input[0]) |
                        static_cast<size_t>(static_cast<uint8_t>(input[1]))
                            << 8;
    input.remove_prefix(2);
    frames.emplace_back(input.substr(0, size));
    input.remove_prefix(std::min(size, input.size()));
  }
  return frames;
}

std::string InputOf(const std::vector<Frame>& frames) {
  std::string input;
  for (const Frame& frame : frames) {
    input.push_back(static_cast<char>(frame.size() & 0xff));
    input.push_back(static_cast<char>(frame.size() >> 8));
    input += frame;
  }
  return input;
}

void CheckEnds(const std::vector<Status>& ends, const RunOutcome& outcome) {
  CHECK(outcome.end == RunEnd::kAllExited, outcome.report);
  for (const Status& end : ends) {
    if (!end.ok()) CheckErrorLine(end.message());
  }
}

// Performs every kind of exchange that a session has.
Status ExchangeAll(World&, Session& session) {
  Ring& ring = session.ring();
  const Duration patience = seconds(1);
  const std::vector<float> local(3, 1.0f);
  const std::vector<std::span<const float>> views = {local};
  std::vector<float> total(3);
  Tally tally;
  RETURN_IF_ERROR(ring.AllReduce({.step = 1}, views, total, tally, patience));
  RETURN_IF_ERROR(ring.AllGather({.step = 2}, "x", patience).status());
  const ExchangeKey key = {.step = 3};
  if (ring.rank() == 1) return ring.SendState(key, {}, patience);
  const bool passes_on = (ring.rank() + 1) % ring.size() != 1;
  return ring.ReceiveState(
      key, passes_on, 1000, [](auto, uint64_t) {}, patience);
}

// Sends each frame over a connection of its own, then all frames over one more.
int SendToChief(World& world, const std::vector<Frame>& frames) {
  const Time deadline = world.clock.Now() + seconds(5);
  std::vector<std::unique_ptr<Channel>> channels;
  const auto connect = [&]() -> Channel* {
    auto channel = world.network.Connect("w0:1", deadline);
    if (!channel.ok()) return nullptr;
    channels.push_back(*std::move(channel));
    return channels.back().get();
  };
  Channel* const all = connect();
  for (const Frame& frame : frames) {
    Channel* const one = connect();
    if (all == nullptr || one == nullptr) return 0;
    static_cast<void>(one->Send(frame, deadline));
    static_cast<void>(all->Send(frame, deadline));
  }
  world.clock.SleepUntil(deadline);
  return 0;
}

void RunStranger(const std::vector<Frame>& frames) {
  ClusterFixture cluster(2, 1);
  cluster.options().rendezvous_timeout = seconds(3);
  cluster.simulation().Start(
      {.name = "stranger", .host = "stranger", .body = [&](World& world) {
         return SendToChief(world, frames);
       }});
  cluster.StartWorker(0, ExchangeAll);
  cluster.simulation().At(cluster.simulation().now() + milliseconds(20),
                          [&] { cluster.StartWorker(1, ExchangeAll); });
  const std::vector<Status> ends = cluster.Run();
  CheckEnds(ends, cluster.outcome());
}

// Sends each frame twice, with its number.
void SendTwice(Channel& channel, const std::vector<Frame>& frames,
               Time deadline) {
  for (size_t i = 0; i < frames.size(); ++i) {
    Frame frame = frames[i];
    AppendFrameNumber(i + 1, frame);
    static_cast<void>(channel.Send(frame, deadline));
    static_cast<void>(channel.Send(frame, deadline));
  }
}

// Joins a session as rank 1, as a correct worker does. Then sends the frames on
// the control channel and into the ring.
int JoinAndSend(World& world, const std::vector<Frame>& frames) {
  const Time deadline = world.clock.Now() + seconds(5);
  auto listener = world.network.Listen("w1:1");
  auto control = world.network.Connect("w0:1", deadline);
  if (!listener.ok() || !control.ok()) return 1;
  static_cast<void>(
      (*control)->Send(EncodeControl(Hello{.rank = 1}), deadline));
  const Result<Frame> welcome = (*control)->Receive(deadline);
  if (!welcome.ok()) return 1;
  auto ring = world.network.Connect("w0:1", deadline);
  if (!ring.ok()) return 1;
  const Hello hello = {.role = ChannelRole::kRing, .rank = 1, .generation = 1};
  static_cast<void>((*ring)->Send(EncodeControl(hello), deadline));
  const auto previous = (*listener)->Accept(deadline);
  SendTwice(**ring, frames, deadline);
  world.clock.SleepUntil(world.clock.Now() + milliseconds(300));
  SendTwice(**control, frames, deadline);
  world.clock.SleepUntil(deadline);
  return 0;
}

void RunMember(const std::vector<Frame>& frames) {
  ClusterFixture cluster(2, 1);
  cluster.options().lost_after = seconds(1);
  cluster.simulation().Start(
      {.name = "member", .host = "w1", .body = [&](World& world) {
         return JoinAndSend(world, frames);
       }});
  cluster.StartWorker(0, ExchangeAll);
  const std::vector<Status> ends = cluster.Run();
  CheckEnds({ends[0]}, cluster.outcome());
}

}  // namespace

void FuzzSession(std::string_view input) {
  std::vector<Frame> frames = FramesOf(input);
  constexpr size_t kMost = 16;
  if (frames.size() > kMost) frames.resize(kMost);
  RunStranger(frames);
  RunMember(frames);
}

std::vector<std::string> SessionSeeds() {
  const auto chunk = [](ChunkKind kind, uint64_t step, std::string_view bytes) {
    return EncodeChunk({.kind = kind,
                        .rank = 1,
                        .request_bits = 1,
                        .generation = 1,
                        .step = step,
                        .correct = 1,
                        .samples = static_cast<int64_t>(bytes.size())},
                       bytes);
  };
  const Frame total = chunk(ChunkKind::kTotal, 1, "0123456789ab");
  ChunkHeader gathered = {
      .kind = ChunkKind::kGather, .index = 1, .generation = 1, .step = 2};
  const Frame list = EncodeChunk(gathered, EncodeList({"x", "y"}));
  const Frame state = chunk(ChunkKind::kState, 3, "state");
  return {InputOf({total, list, state}),
          InputOf({EncodeControl(Hello{.rank = 1}), EncodeControl(Bye{})}),
          InputOf({EncodeControl(Hello{.rank = 2}), "", "garbage",
                   EncodeControl(Hello{.rank = 1,
                                       .incarnation = ~uint64_t{0},
                                       .generation = ~uint64_t{0}})}),
          InputOf({EncodeControl(Beat{}), EncodeControl(Challenge{}),
                   EncodeControl(Welcome{.addresses = {"a", "b", "c"}}),
                   EncodeControl(Refusal{.message = "go"}), total})};
}

}  // namespace gauntlet
