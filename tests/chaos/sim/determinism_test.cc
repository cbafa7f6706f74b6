#include <algorithm>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "chaos/sim/simulation.h"
#include "engine/world/queue.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Uses a bit of everything: tasks, messages, files, events.
int Serve(World& world, int frames) {
  auto listener = world.network.Listen("server:80");
  auto caller = (*listener)->Accept(kNever);
  if (!caller.ok() || caller->first != "0") return 1;
  const auto file = world.storage.Open("/received", OpenMode::kCreateExclusive);
  for (int i = 1; i < frames; ++i) {
    const auto frame = caller->channel->Receive(kNever);
    if (!frame.ok()) return 2;
    if (!(*file)->WriteAt(static_cast<uint64_t>(i), Bytes(*frame)).ok()) {
      return 3;
    }
    world.events.Emit(
        {.kind = EventKind::kStep, .step = static_cast<uint64_t>(i)});
  }
  return (*file)->Sync().ok() ? 0 : 4;
}

int Send(World& world, int frames) {
  auto channel = world.network.Connect("server:80", kNever);
  if (!channel.ok()) return 1;
  Queue<int> queue(world.tasks);
  const auto producer = world.tasks.Spawn("producer", [&] {
    for (int i = 0; i < frames; ++i) queue.Push(i);
    queue.Close();
  });
  while (const auto item = queue.Pop(kNever)) {
    if (!(*channel)->Send(std::to_string(*item), kNever).ok()) return 2;
  }
  producer->Join();
  // Waits until the server closes the connection.
  return (*channel)->Receive(kNever).ok() ? 3 : 0;
}

struct Trace {
  uint64_t digest = 0;
  uint64_t steps = 0;
  Time end;
  auto operator<=>(const Trace&) const = default;
};

Trace RunOnce(FiberPool& pool, uint64_t seed) {
  Simulation simulation(pool, {.seed = seed});
  simulation.Start({.name = "server",
                    .host = "server",
                    .body = [](World& world) { return Serve(world, 5); }});
  simulation.Start({.name = "client",
                    .host = "client",
                    .body = [](World& world) { return Send(world, 5); }});
  const RunOutcome outcome = simulation.Run();
  EXPECT_EQ(outcome.end, RunEnd::kAllExited) << outcome.report;
  EXPECT_EQ(simulation.exit_status(0)->code, 0);
  EXPECT_EQ(simulation.exit_status(1)->code, 0);
  EXPECT_EQ(simulation.events().size(), 4u);
  return {simulation.digest(), simulation.steps(), simulation.now()};
}

TEST(DeterminismTest, EqualSeedsGiveEqualTraces) {
  FiberPool pool;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(RunOnce(pool, seed), RunOnce(pool, seed)) << "seed " << seed;
  }
}

TEST(DeterminismTest, DifferentSeedsGiveDifferentTraces) {
  FiberPool pool;
  std::set<uint64_t> digests;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    digests.insert(RunOnce(pool, seed).digest);
  }
  EXPECT_EQ(digests.size(), 50u);
}

// The value holds for every build: optimised or not, with or without
// sanitizers.
TEST(DeterminismTest, TraceOfASeedIsTheSameInEveryBuild) {
  FiberPool pool;
  EXPECT_EQ(RunOnce(pool, 1).digest, 0xc2c53d6fd02f0213U);
}

TEST(DeterminismTest, StreamsWithDifferentNamesAreIndependent) {
  RandomStream one(1, "one");
  RandomStream two(1, "two");
  RandomStream again(1, "two");
  one.Next();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(two.Next(), again.Next());
  EXPECT_NE(RandomStream(1, "one").Next(), RandomStream(1, "two").Next());
  EXPECT_NE(RandomStream(1, "one").Next(), RandomStream(2, "one").Next());
}

TEST(DeterminismTest, BelowCoversItsRangeEvenly) {
  RandomStream stream(3, "range");
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70'000; ++i) ++counts[stream.Below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(DeterminismTest, NoTaskThatCanRunStarves) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 5});
  std::vector<int> turns(10, 0);
  simulation.Start({.name = "busy", .body = [&](World& world) {
                      std::vector<std::unique_ptr<Task>> tasks;
                      const Time end =
                          world.clock.Now() + std::chrono::milliseconds(50);
                      for (int& count : turns) {
                        tasks.push_back(world.tasks.Spawn("spinner", [&] {
                          while (world.clock.Now() < end) {
                            world.clock.SleepUntil(world.clock.Now());
                            ++count;
                          }
                        }));
                      }
                      for (const auto& task : tasks) task->Join();
                      return 0;
                    }});
  EXPECT_EQ(simulation.Run().end, RunEnd::kAllExited);
  const auto [least, most] = std::minmax_element(turns.begin(), turns.end());
  EXPECT_GT(*least, 4000);
  EXPECT_LT(*most, 6000);
}

int64_t ResidentKilobytes() {
  std::ifstream status("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  status >> total >> resident;
  return resident * 4;
}

TEST(DeterminismTest, TenThousandSimulationsLeaveNothingBehind) {
  FiberPool pool;
  for (uint64_t seed = 0; seed < 2'000; ++seed) RunOnce(pool, seed);
  const int64_t before = ResidentKilobytes();
  for (uint64_t seed = 0; seed < 8'000; ++seed) RunOnce(pool, seed);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(ResidentKilobytes() - before, 1024);
#else
  // A sanitizer keeps freed memory, and reports leaks itself.
  (void)before;
#endif
}

}  // namespace
}  // namespace gauntlet
