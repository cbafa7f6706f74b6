#include "chaos/sim/sim_worker_processes.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr Duration kSecond = std::chrono::seconds(1);

// Runs a launcher in its own simulation.
void Launch(WorkerBody body,
            const std::function<void(SimWorkerProcesses&, World&)>& launcher) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 2});
  simulation.Start({.name = "launcher", .body = [&](World& world) {
                      SimWorkerProcesses workers(simulation, world,
                                                 {.body = body});
                      launcher(workers, world);
                      return 0;
                    }});
  const RunOutcome outcome = simulation.Run();
  EXPECT_EQ(outcome.end, RunEnd::kAllExited) << outcome.report;
  EXPECT_EQ(simulation.exit_status(0)->code, 0);
}

TEST(SimWorkerProcessesTest, NoticesComeInOrderAndTheExitLast) {
  const auto body = [](World&, const WorkerSpec& spec,
                       const WorkerReport& report) {
    report(WorkerProgress{.step = 5});
    report(TrainResult{.status = "done"});
    return spec.worker + 10;
  };
  Launch(body, [](SimWorkerProcesses& workers, World&) {
    ASSERT_TRUE(workers.Start({.worker = 3}).ok());
    const auto progress = workers.Next(kNever);
    EXPECT_EQ(std::get<WorkerProgress>(progress->content).step, 5u);
    const auto result = workers.Next(kNever);
    EXPECT_EQ(std::get<TrainResult>(result->content).status, "done");
    const auto exited = workers.Next(kNever);
    EXPECT_EQ(exited->worker, 3);
    EXPECT_EQ(std::get<WorkerExited>(exited->content).code, 13);
  });
}

TEST(SimWorkerProcessesTest, NextEndsAtTheDeadline) {
  const auto body = [](World&, const WorkerSpec&, const WorkerReport&) {
    return 0;
  };
  Launch(body, [](SimWorkerProcesses& workers, World& world) {
    EXPECT_EQ(workers.Next(world.clock.Now() + kSecond), std::nullopt);
  });
}

TEST(SimWorkerProcessesTest, SignalsReachTheWorker) {
  const auto body = [](World& world, const WorkerSpec&, const WorkerReport&) {
    while (world.host.TerminationNotices() == 0) {
      world.clock.SleepUntil(world.clock.Now() + kSecond);
    }
    return 143;
  };
  Launch(body, [](SimWorkerProcesses& workers, World&) {
    ASSERT_TRUE(workers.Start({.worker = 0}).ok());
    ASSERT_TRUE(workers.Start({.worker = 1}).ok());
    workers.Signal(0, WorkerSignal::kKill);
    const auto killed = workers.Next(kNever);
    EXPECT_EQ(killed->worker, 0);
    EXPECT_EQ(std::get<WorkerExited>(killed->content).signal, 9);
    EXPECT_EQ(std::get<WorkerExited>(killed->content).code, 137);
    workers.Signal(1, WorkerSignal::kTerminate);
    const auto stopped = workers.Next(kNever);
    EXPECT_EQ(std::get<WorkerExited>(stopped->content).code, 143);
    workers.Signal(1, WorkerSignal::kKill);
    workers.Signal(9, WorkerSignal::kKill);
  });
}

TEST(SimWorkerProcessesTest, WorkersMeetAtTheReservedAddresses) {
  const auto body = [](World& world, const WorkerSpec& spec,
                       const WorkerReport&) {
    const std::string& chief = spec.addresses.front();
    if (spec.rank == 0) {
      auto listener = world.network.Listen(chief);
      return (*listener)->Accept(kNever)->first == "hello" ? 0 : 1;
    }
    auto channel = world.network.Connect(chief, kNever);
    if (!(*channel)->Send("hello", kNever).ok()) return 2;
    return (*channel)->Receive(kNever).ok() ? 3 : 0;
  };
  Launch(body, [](SimWorkerProcesses& workers, World&) {
    const auto addresses = workers.ReserveAddresses(2);
    EXPECT_NE((*addresses)[0], (*addresses)[1]);
    for (int rank = 0; rank < 2; ++rank) {
      const WorkerSpec spec{
          .worker = rank, .rank = rank, .addresses = *addresses};
      ASSERT_TRUE(workers.Start(spec).ok());
    }
    for (int i = 0; i < 2; ++i) {
      const auto event = workers.Next(kNever);
      EXPECT_EQ(std::get<WorkerExited>(event->content).code, 0);
    }
  });
}

TEST(SimWorkerProcessesTest, WorkersShareTheDiskOfTheLauncher) {
  const auto body = [](World& world, const WorkerSpec&, const WorkerReport&) {
    return world.storage.List("/store").ok() ? 0 : 1;
  };
  Launch(body, [](SimWorkerProcesses& workers, World& world) {
    ASSERT_TRUE(world.storage.MakeDirectory("/store").ok());
    ASSERT_TRUE(workers.Start({.worker = 0}).ok());
    const auto event = workers.Next(kNever);
    EXPECT_EQ(std::get<WorkerExited>(event->content).code, 0);
  });
}

TEST(SimWorkerProcessesTest, WorkersMayOutliveTheirLauncher) {
  const auto body = [](World& world, const WorkerSpec&,
                       const WorkerReport& report) {
    world.clock.SleepUntil(world.clock.Now() + kSecond);
    report(WorkerProgress{.step = 1});
    return 0;
  };
  Launch(body, [](SimWorkerProcesses& workers, World&) {
    ASSERT_TRUE(workers.Start({.worker = 0}).ok());
  });
}

// Kills a launcher. Its workers must end between `least` and `most` later.
void KillLauncher(LauncherReach reach, Duration least, Duration most) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 2});
  const ProcessId launcher = simulation.Start(
      {.name = "launcher", .host = "launcher", .body = [&](World& world) {
         SimWorkerProcesses workers(
             simulation, world,
             {.body =
                  [](World& own, const WorkerSpec&, const WorkerReport&) {
                    own.clock.SleepUntil(kNever);
                    return 0;
                  },
              .reach = reach});
         for (const int worker : {0, 1, 2}) {
           EXPECT_TRUE(workers.Start({.worker = worker}).ok());
         }
         world.clock.SleepUntil(kNever);
         return 0;
       }});
  const Time killed = simulation.now() + kSecond;
  simulation.At(killed, [&] { simulation.Kill(launcher); });
  const RunOutcome outcome = simulation.Run();
  EXPECT_EQ(outcome.end, RunEnd::kAllExited) << outcome.report;
  EXPECT_GT(simulation.now(), killed + least);
  EXPECT_LE(simulation.now(), killed + most);
  for (const ProcessId worker : {1, 2, 3}) {
    EXPECT_EQ(simulation.exit_status(worker)->signal, 9);
  }
}

TEST(SimWorkerProcessesTest, WorkersEndSoonAfterALauncherThatIsKilled) {
  KillLauncher(LauncherReach::kLocal, Duration(0), kSecond / 100);
  KillLauncher(LauncherReach::kNetwork, kSecond / 10, 4 * kSecond);
}

// Runs a launcher that reaches its workers over the network.
void LaunchAfar(WorkerBody body,
                const std::function<void(SimWorkerProcesses&, Simulation&,
                                         World&)>& launcher) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = 2});
  simulation.Start(
      {.name = "launcher", .host = "launcher", .body = [&](World& world) {
         SimWorkerProcesses workers(
             simulation, world,
             {.body = body, .reach = LauncherReach::kNetwork});
         launcher(workers, simulation, world);
         return 0;
       }});
  const RunOutcome outcome = simulation.Run();
  EXPECT_EQ(outcome.end, RunEnd::kAllExited) << outcome.report;
}

void CutOff(Simulation& simulation, const std::string& host) {
  simulation.network().Cut({host, kEveryHost});
}

int HangForEver(World& world, const WorkerSpec&, const WorkerReport&) {
  world.clock.SleepUntil(kNever);
  return 0;
}

// Returns the next event, polling as often as a launcher does.
std::optional<WorkerEvent> AskUntil(SimWorkerProcesses& workers, World& world,
                                    Duration patience) {
  const Time end = world.clock.Now() + patience;
  while (world.clock.Now() < end) {
    const auto event = workers.Next(world.clock.Now() + kSecond / 20);
    if (event) return event;
  }
  return std::nullopt;
}

TEST(LauncherAfarTest, KillWaitsForTheCutToHeal) {
  LaunchAfar(HangForEver, [](SimWorkerProcesses& workers,
                             Simulation& simulation, World& world) {
    ASSERT_TRUE(workers.Start({.worker = 1}).ok());
    CutOff(simulation, WorkerHost(1, 1));
    workers.Signal(1, WorkerSignal::kKill);
    EXPECT_EQ(AskUntil(workers, world, 5 * kSecond), std::nullopt);
    EXPECT_EQ(simulation.exit_status(1), std::nullopt);
    simulation.network().Heal({WorkerHost(1, 1), kEveryHost});
    const auto killed = AskUntil(workers, world, kSecond);
    ASSERT_TRUE(killed);
    EXPECT_EQ(std::get<WorkerExited>(killed->content).signal, 9);
    EXPECT_FALSE(workers.IsGivenUp(1));
  });
}

TEST(LauncherAfarTest, GivesUpAnUnreachableWorkerThatKeepsRunning) {
  LaunchAfar(HangForEver, [](SimWorkerProcesses& workers,
                             Simulation& simulation, World& world) {
    ASSERT_TRUE(workers.Start({.worker = 1, .incarnation = 1}).ok());
    CutOff(simulation, WorkerHost(1, 1));
    const Time cut = world.clock.Now();
    const auto lost = AskUntil(workers, world, 30 * kSecond);
    ASSERT_TRUE(lost);
    EXPECT_EQ(std::get<WorkerExited>(lost->content).code, 137);
    EXPECT_GE(world.clock.Now(), cut + 10 * kSecond);
    EXPECT_TRUE(workers.IsGivenUp(1));
    EXPECT_EQ(simulation.exit_status(1), std::nullopt) << "a stale worker";
    // The replacement has a host of its own, and its end is reported once.
    ASSERT_TRUE(workers.Start({.worker = 1, .incarnation = 2}).ok());
    EXPECT_EQ(AskUntil(workers, world, 30 * kSecond), std::nullopt);
    workers.Signal(1, WorkerSignal::kKill);
    EXPECT_TRUE(AskUntil(workers, world, kSecond));
    // Eventually the stale worker is ended from outside.
    world.clock.SleepUntil(cut + 90 * kSecond);
    EXPECT_TRUE(simulation.exit_status(1));
    EXPECT_EQ(AskUntil(workers, world, kSecond), std::nullopt);
  });
}

TEST(LauncherAfarTest, MessagesOfACutWorkerArriveOnceTheCutHeals) {
  const auto body = [](World& world, const WorkerSpec&,
                       const WorkerReport& report) {
    world.clock.SleepUntil(world.clock.Now() + kSecond);
    report(WorkerProgress{.step = 3});
    return 75;
  };
  LaunchAfar(body, [](SimWorkerProcesses& workers, Simulation& simulation,
                      World& world) {
    ASSERT_TRUE(workers.Start({.worker = 0}).ok());
    CutOff(simulation, WorkerHost(0, 1));
    EXPECT_EQ(AskUntil(workers, world, 3 * kSecond), std::nullopt);
    simulation.network().Heal({WorkerHost(0, 1), kEveryHost});
    const auto progress = AskUntil(workers, world, kSecond);
    EXPECT_EQ(std::get<WorkerProgress>(progress->content).step, 3u);
    const auto exited = AskUntil(workers, world, kSecond);
    EXPECT_EQ(std::get<WorkerExited>(exited->content).code, 75);
  });
}

}  // namespace
}  // namespace gauntlet
