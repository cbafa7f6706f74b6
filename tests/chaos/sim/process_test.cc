#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/sim/sim_effects.h"
#include "chaos/sim/simulation.h"
#include "engine/world/queue.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr ExitStatus kKilled{.code = 137, .signal = 9};

void SleepFor(World& world, Duration duration) {
  world.clock.SleepUntil(world.clock.Now() + duration);
}

// Records its name when it is destroyed.
struct Note {
  std::vector<std::string>& order;
  std::string name;
  ~Note() { order.push_back(name); }
};

class ProcessTest : public testing::Test {
 protected:
  ProcessId Start(std::function<int(World&)> body) {
    return simulation_.Start({.name = "p", .body = std::move(body)});
  }
  ExitStatus RunToExit(ProcessId process) {
    const RunOutcome outcome = simulation_.Run();
    EXPECT_EQ(outcome.end, RunEnd::kAllExited) << outcome.report;
    return *simulation_.exit_status(process);
  }

  FiberPool pool_;
  Simulation simulation_{pool_, {.seed = 3}};
};

TEST_F(ProcessTest, ExitCodeIsTheValueOfTheBody) {
  EXPECT_EQ(RunToExit(Start([](World&) { return 7; })),
            (ExitStatus{.code = 7, .signal = 0}));
}

TEST_F(ProcessTest, ExitEndsTheProcessFromAnyTask) {
  bool went_on = false;
  const ProcessId process = Start([&](World& world) {
    const auto task = world.tasks.Spawn("t", [&] { world.host.Exit(75); });
    task->Join();
    went_on = true;
    return 0;
  });
  EXPECT_EQ(RunToExit(process), (ExitStatus{.code = 75, .signal = 0}));
  EXPECT_FALSE(went_on);
}

TEST_F(ProcessTest, TaskThatEndsItsProcessReturnsAfterTheOtherTasks) {
  std::vector<std::string> order;
  const ProcessId process = Start([&](World& world) {
    const auto task = world.tasks.Spawn("t", [&] {
      const Note child{order, "child"};
      simulation_.Hang();
    });
    SleepFor(world, milliseconds(1));
    simulation_.EndSelf(75);
    order.push_back("parent");
    task->Join();
    return 7;
  });
  EXPECT_EQ(RunToExit(process), (ExitStatus{.code = 75, .signal = 0}));
  EXPECT_EQ(order, (std::vector<std::string>{"child", "parent"}));
}

TEST_F(ProcessTest, KilledProcessUnwindsItsTasksYoungestFirst) {
  std::vector<std::string> order;
  const ProcessId process = Start([&](World& world) {
    const Note parent{order, "parent"};
    const auto task = world.tasks.Spawn("child", [&] {
      const Note child{order, "child"};
      const auto inner = world.tasks.Spawn("grandchild", [&] {
        const Note grandchild{order, "grandchild"};
        simulation_.Hang();
      });
      inner->Join();
    });
    task->Join();
    return 0;
  });
  simulation_.At(simulation_.now() + milliseconds(1),
                 [&] { simulation_.Kill(process); });
  EXPECT_EQ(RunToExit(process), kKilled);
  EXPECT_EQ(order, (std::vector<std::string>{"grandchild", "child", "parent"}));
}

TEST_F(ProcessTest, KillNow_EndsTheProcessAtThatInstruction) {
  bool survived = false;
  const ProcessId process = Start([&](World& world) {
    SimEffects(simulation_, world).KillNow();
    survived = true;
    return 0;
  });
  const Time begin = simulation_.now();
  EXPECT_EQ(RunToExit(process), kKilled);
  EXPECT_LT(simulation_.now() - begin, std::chrono::microseconds(10));
  EXPECT_FALSE(survived);
}

TEST_F(ProcessTest, KillFromOutside_EndsWaitingProcess) {
  const ProcessId process = Start([&](World& world) {
    SimEffects(simulation_, world).KillSoon(Duration(0));
    SleepFor(world, std::chrono::seconds(5));
    return 0;
  });
  const Time begin = simulation_.now();
  EXPECT_EQ(RunToExit(process), kKilled);
  EXPECT_LT(simulation_.now() - begin, milliseconds(20));
}

// Holds locks, files, channels and tasks that its destructors release.
int BusyProgram(World& world, int& alive) {
  struct Count {
    int& count;
    explicit Count(int& c) : count(c) { ++count; }
    ~Count() { --count; }
  };
  const Count outer(alive);
  const auto lock = world.storage.Lock("/lock");
  if (!lock.ok()) return 1;
  Queue<int> queue(world.tasks);
  const auto writer = world.tasks.Spawn("writer", [&] {
    const Count inner(alive);
    auto file = world.storage.Open("/out", OpenMode::kCreateTruncate);
    while (const auto item = queue.Pop(kNever)) {
      const std::byte byte{static_cast<unsigned char>(*item)};
      if (!(*file)->WriteAt(0, std::span(&byte, 1)).ok()) return;
    }
    if ((*file)->Sync().ok()) world.events.Emit({.kind = EventKind::kFinished});
  });
  const auto listener = world.network.Listen("host:80");
  const auto server = world.tasks.Spawn("server", [&] {
    const Count inner(alive);
    auto caller = (*listener)->Accept(kNever);
    while (caller->channel->Receive(kNever).ok()) queue.Push(1);
    queue.Close();
  });
  auto channel = world.network.Connect("host:80", kNever);
  for (int i = 0; i < 3; ++i) {
    if (!(*channel)->Send("x", kNever).ok()) return 2;
  }
  (*channel)->Close();
  server->Join();
  writer->Join();
  return 0;
}

TEST_F(ProcessTest, CanBeKilledAtEverySwitchAndLeavesNothing) {
  ExitStatus status = kKilled;
  uint64_t n = 0;
  while (status == kKilled && n < 1000) {
    int alive = 0;
    const ProcessId process =
        Start([&](World& world) { return BusyProgram(world, alive); });
    simulation_.KillAfter(process, ++n);
    status = RunToExit(process);
    EXPECT_EQ(alive, 0) << "killed at " << n;
  }
  EXPECT_EQ(status, (ExitStatus{.code = 0, .signal = 0}));
  EXPECT_GT(n, 20u);
  EXPECT_LT(n, 1000u);
}

TEST_F(ProcessTest, CallsFromDestructorsOfADeadProcessAreErrors) {
  struct Late {
    World& world;
    std::vector<Code>& codes;
    ~Late() {
      codes.push_back(world.storage.MakeDirectory("/late").code());
      codes.push_back(world.network.Listen("host:80").status().code());
      world.clock.SleepUntil(kNever);
      world.tasks.Spawn("late", [] { ADD_FAILURE(); })->Join();
      world.events.Emit({});
      EXPECT_FALSE(world.tasks.NewEvent()->WaitUntil(kNever));
    }
  };
  std::vector<Code> codes;
  const ProcessId process = Start([&](World& world) {
    const Late late{world, codes};
    simulation_.Kill(simulation_.self());
    return 0;
  });
  EXPECT_EQ(RunToExit(process), kKilled);
  EXPECT_EQ(codes, (std::vector<Code>{Code::kIoError, Code::kUnavailable}));
  EXPECT_FALSE(simulation_.storage("host").List("/late").ok());
  EXPECT_TRUE(simulation_.events().empty());
}

TEST_F(ProcessTest, TasksThatStillRunAtTheEndOfTheBodyAreUnwound) {
  std::unique_ptr<Task> task;
  const ProcessId process = Start([&](World& world) {
    task = world.tasks.Spawn("left over", [&] {
      SleepFor(world, std::chrono::hours(2));
      ADD_FAILURE();
    });
    SleepFor(world, milliseconds(1));
    return 3;
  });
  EXPECT_EQ(RunToExit(process).code, 3);
}

TEST_F(ProcessTest, StoppedProcessStandsStillUntilItIsContinued) {
  const Time begin = simulation_.now();
  Time woke;
  const ProcessId process = Start([&](World& world) {
    SleepFor(world, milliseconds(2));
    woke = world.clock.Now();
    return 0;
  });
  simulation_.At(begin + milliseconds(1), [&] { simulation_.Stop(process); });
  simulation_.At(begin + milliseconds(50),
                 [&] { simulation_.Continue(process); });
  EXPECT_EQ(RunToExit(process).code, 0);
  EXPECT_GE(woke, begin + milliseconds(50));
}

TEST_F(ProcessTest, ProcessMayStopItself) {
  const Time begin = simulation_.now();
  const ProcessId process = Start([&](World& world) {
    simulation_.Stop(simulation_.self());
    EXPECT_GE(world.clock.Now(), begin + milliseconds(9));
    return 0;
  });
  simulation_.At(begin + milliseconds(9),
                 [&] { simulation_.Continue(process); });
  EXPECT_EQ(RunToExit(process).code, 0);
}

TEST_F(ProcessTest, StoppedProcessCanBeKilled) {
  const ProcessId process = Start([&](World&) {
    simulation_.Stop(simulation_.self());
    return 0;
  });
  simulation_.At(simulation_.now() + milliseconds(1),
                 [&] { simulation_.Kill(process); });
  EXPECT_EQ(RunToExit(process), kKilled);
}

TEST_F(ProcessTest, NoticesAreCounted) {
  const ProcessId process = Start([&](World& world) {
    while (world.host.TerminationNotices() < 2) {
      SleepFor(world, milliseconds(1));
    }
    return 143;
  });
  for (const int ms : {3, 5}) {
    simulation_.At(simulation_.now() + milliseconds(ms),
                   [&] { simulation_.Notify(process); });
  }
  EXPECT_EQ(RunToExit(process).code, 143);
}

TEST_F(ProcessTest, InterruptIsANoticeAndTheFirstOneHasATime) {
  const Time begin = simulation_.now();
  const ProcessId process = Start([&](World& world) {
    EXPECT_EQ(world.host.FirstNotice(), std::nullopt);
    SleepFor(world, milliseconds(9));
    EXPECT_EQ(world.host.TerminationNotices(), 2);
    EXPECT_EQ(world.host.Interrupts(), 1);
    EXPECT_EQ(world.host.FirstNotice(), begin + milliseconds(3));
    return 0;
  });
  simulation_.At(begin + milliseconds(3), [&] { simulation_.Notify(process); });
  simulation_.At(begin + milliseconds(5),
                 [&] { simulation_.Interrupt(process); });
  EXPECT_EQ(RunToExit(process).code, 0);
}

// A jump affects the clock of one process during its own incarnation, and no
// other process.
TEST_F(ProcessTest, CalendarJumpsForOneProcessOnly) {
  std::vector<int64_t> read;
  const auto body = [&](int64_t jump) {
    return [&, jump](World& world) {
      if (jump != 0) simulation_.JumpCalendar(simulation_.self(), jump);
      read.push_back(world.clock.UnixSeconds());
      return 0;
    };
  };
  for (const int64_t jump : {int64_t{0}, int64_t{-3600}, int64_t{0}}) {
    simulation_.Start({.host = "one", .body = body(jump)});
    simulation_.Run();
  }
  ASSERT_EQ(read.size(), 3u);
  EXPECT_LT(read[1], read[0] - 3500);
  EXPECT_GE(read[2], read[0]);
}

TEST_F(ProcessTest, OneProcessWaitsForAnother) {
  const ProcessId child = simulation_.Start(
      {.name = "child", .host = "other", .body = [](World& world) {
         SleepFor(world, milliseconds(5));
         return 4;
       }});
  const ProcessId parent = Start([&](World& world) {
    EXPECT_EQ(
        simulation_.WaitForExit(child, world.clock.Now() + milliseconds(1)),
        std::nullopt);
    return simulation_.WaitForExit(child, kNever)->code;
  });
  EXPECT_EQ(RunToExit(parent).code, 4);
}

TEST_F(ProcessTest, OnExitMayStartTheNextIncarnation) {
  std::vector<int> codes;
  const ProcessId first =
      simulation_.Start({.name = "first",
                         .body = [](World&) { return 1; },
                         .on_exit =
                             [&](const ExitStatus& status) {
                               codes.push_back(status.code);
                               Start([](World&) { return 2; });
                             }});
  EXPECT_EQ(RunToExit(first).code, 1);
  EXPECT_EQ(codes, std::vector<int>{1});
  EXPECT_EQ(simulation_.exit_status(1)->code, 2);
}

TEST_F(ProcessTest, FileLock_EndsWithLastInheritingProcess) {
  std::unique_ptr<FileLock> lock;
  ProcessId child = -1;
  const auto hold = [](World& world) {
    SleepFor(world, milliseconds(10));
    return 0;
  };
  const ProcessId parent = Start([&](World& world) {
    auto held = world.storage.Lock("/lock");
    child = simulation_.Start(
        {.name = "child", .body = hold, .parent = simulation_.self()});
    simulation_.Kill(simulation_.self());
    return 0;
  });
  const ProcessId other = Start([&](World& world) {
    SleepFor(world, milliseconds(5));
    EXPECT_EQ(world.storage.Lock("/lock").status().code(),
              Code::kAlreadyExists);
    simulation_.WaitForExit(child, kNever);
    EXPECT_TRUE(world.storage.Lock("/lock").ok());
    return 0;
  });
  EXPECT_EQ(RunToExit(other).code, 0);
  EXPECT_EQ(*simulation_.exit_status(parent), kKilled);
}

TEST_F(ProcessTest, DeadlockReport_NamesWaitOfEachTask) {
  Start([&](World& world) {
    const auto event = world.tasks.NewEvent();
    const auto task =
        world.tasks.Spawn("stuck", [&] { event->WaitUntil(kNever); });
    task->Join();
    return 0;
  });
  simulation_.Start({.name = "server", .body = [](World& world) {
                       auto listener = world.network.Listen("host:80");
                       return (*listener)->Accept(kNever).ok() ? 0 : 1;
                     }});
  const RunOutcome outcome = simulation_.Run();
  EXPECT_EQ(outcome.end, RunEnd::kDeadlock);
  EXPECT_EQ(outcome.report,
            "p: task 'main' joins task stuck; "
            "p: task 'stuck' waits for an event; "
            "server: task 'main' accepts at host:80");
  EXPECT_EQ(*simulation_.exit_status(0), kKilled);
}

TEST(RunTest, EndsAtTheLimitOfVirtualTime) {
  FiberPool pool;
  Simulation simulation(
      pool, {.seed = 1, .scheduler = {.time_limit = std::chrono::minutes(1)}});
  simulation.Start({.name = "p", .body = [](World& world) {
                      while (true) SleepFor(world, std::chrono::seconds(7));
                      return 0;
                    }});
  const Time begin = simulation.now();
  const RunOutcome outcome = simulation.Run();
  EXPECT_EQ(outcome.end, RunEnd::kTimeLimit);
  EXPECT_THAT(outcome.report, HasSubstr("p: task 'main' sleeps"));
  EXPECT_LE(simulation.now(), begin + std::chrono::minutes(1));
}

TEST(RunTest, EndsAtTheInterruptedStep) {
  FiberPool pool;
  int asked = 0;
  Simulation simulation(
      pool,
      {.seed = 1, .scheduler = {.interrupted = [&] { return ++asked > 500; }}});
  simulation.Start({.name = "p", .body = [](World& world) {
                      while (true) world.clock.SleepUntil(world.clock.Now());
                      return 0;
                    }});
  EXPECT_EQ(simulation.Run().end, RunEnd::kInterrupted);
  EXPECT_EQ(simulation.steps(), 500u);
}

TEST(RunTest, InterruptEndsRun_IfNoTaskWaits) {
  FiberPool pool;
  bool interrupted = false;
  Simulation simulation(
      pool,
      {.seed = 1, .scheduler = {.interrupted = [&] { return interrupted; }}});
  uint64_t steps = 0;
  simulation.Start({.name = "p", .body = [&](World& world) {
                      while (true) {
                        world.events.Emit(
                            {.kind = EventKind::kStep, .step = ++steps});
                        interrupted = steps == 100;
                      }
                      return 0;
                    }});
  EXPECT_EQ(simulation.Run().end, RunEnd::kInterrupted);
  EXPECT_EQ(steps, 101u);
}

TEST(RunTest, EndsAtTheLimitOfSteps) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 1, .scheduler = {.step_limit = 500}});
  simulation.Start({.name = "p", .body = [](World& world) {
                      while (true) world.clock.SleepUntil(world.clock.Now());
                      return 0;
                    }});
  const RunOutcome outcome = simulation.Run();
  EXPECT_EQ(outcome.end, RunEnd::kStepLimit);
  EXPECT_EQ(simulation.steps(), 500u);
  EXPECT_THAT(outcome.report, HasSubstr("p: task 'main' can run"));
}

TEST(RunTest, DisksOutliveTheProcesses) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 1});
  simulation.Start({.name = "one", .body = [](World& world) {
                      return world.storage.MakeDirectory("/d").ok() ? 0 : 1;
                    }});
  simulation.Run();
  simulation.Start({.name = "two", .body = [](World& world) {
                      return world.storage.List("/d").ok() ? 0 : 1;
                    }});
  simulation.Run();
  EXPECT_EQ(simulation.exit_status(0)->code, 0);
  EXPECT_EQ(simulation.exit_status(1)->code, 0);
}

}  // namespace
}  // namespace gauntlet
