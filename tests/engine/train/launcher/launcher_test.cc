// The launcher's policy. Workers follow a script instead of training, as
// processes of a simulation, so that signals and time are simulated.
#include "engine/train/launcher/launcher.h"

#include <algorithm>
#include <csignal>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/sim/sim_worker_processes.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// One incarnation of a worker, as its launcher sees it.
struct Script {
  Duration runs = milliseconds(10);
  int exit = 0;
  std::string says;  // status of the result that it sends; "": sends none
  uint64_t claims = 0;
  // `patience`: time that the worker announces for its next sign of life; 0:
  // sends no signs. `signs_every`: real interval between signs; 0: sends one.
  Duration patience{0};
  Duration signs_every{0};
  // Time from a notice until the worker leaves with 143; nullopt: never.
  std::optional<Duration> leaves_after_notice;
  bool for_ever = false;
  // The worker's other messages, in order, with their times since its start.
  std::vector<std::pair<Duration, WorkerProgress>> reports = {};
};
using ScriptOf = std::function<Script(const WorkerSpec&)>;

struct Sent {
  int worker;
  WorkerSignal signal;
  Duration at;
};

struct Restart {
  int number;
  std::string reason;
  Duration pause;
};

class LauncherTest : public testing::Test {
 protected:
  // Forwards to `base`, records signals, and fails to start chosen workers.
  class Processes final : public WorkerProcesses {
   public:
    Processes(LauncherTest& test, WorkerProcesses& base)
        : test_(test), base_(base) {}
    Result<std::vector<std::string>> ReserveAddresses(int count) override {
      return base_.ReserveAddresses(count);
    }
    Status Start(const WorkerSpec& spec) override {
      if (spec.worker == test_.fails_to_start_ &&
          spec.incarnation ==
              test_.fails_in_incarnation_.value_or(spec.incarnation)) {
        return IoError("no more");
      }
      test_.incarnations_.push_back(spec.incarnation);
      test_.started_.push_back({spec.worker, spec.incarnation});
      return base_.Start(spec);
    }
    std::optional<WorkerEvent> Next(Time deadline) override {
      std::optional<WorkerEvent> event = base_.Next(deadline);
      if (!event || event->worker != test_.ended_by_sigterm_) return event;
      if (auto* exited = std::get_if<WorkerExited>(&event->content)) {
        if (exited->code == 128 + SIGTERM) exited->signal = SIGTERM;
      }
      return event;
    }
    void Signal(int worker, WorkerSignal signal) override {
      test_.sent_.push_back({worker, signal, test_.Now()});
      base_.Signal(worker, signal);
    }
    void Acknowledge(int worker) override { base_.Acknowledge(worker); }

   private:
    LauncherTest& test_;
    WorkerProcesses& base_;
  };

  class Observer final : public LaunchObserver {
   public:
    explicit Observer(LauncherTest& test) : test_(test) {}
    void Progress(const WorkerProgress& progress) override {
      if (!progress.line.empty()) test_.lines_.push_back(progress.line);
    }
    void Restarting(int restart, const std::string& reason,
                    Duration pause) override {
      test_.restarts_.push_back({restart, reason, pause});
    }

   private:
    LauncherTest& test_;
  };

  Duration Now() const { return simulation_.now() - begin_; }

  void NoticeAt(Duration time) {
    simulation_.At(begin_ + time, [this] { simulation_.Notify(launcher_); });
  }

  void InterruptAt(Duration time) {
    simulation_.At(begin_ + time, [this] { simulation_.Interrupt(launcher_); });
  }

  void PauseAt(Duration time, Duration pause) {
    simulation_.At(begin_ + time, [this] { simulation_.Stop(launcher_); });
    simulation_.At(begin_ + time + pause,
                   [this] { simulation_.Continue(launcher_); });
  }

  LaunchEnd Launched(const ScriptOf& script_of) {
    LaunchEnd end;
    launcher_ = simulation_.Start(
        {.name = "launcher", .host = "launcher", .body = [&](World& world) {
           SimWorkerProcesses base(
               simulation_, world,
               {.body = [&](World& worker, const WorkerSpec& spec,
                            const WorkerReport& report) {
                 return Play(worker, script_of(spec), report);
               }});
           Processes processes(*this, base);
           Observer observer(*this);
           end = Launch(world, processes, options_, observer);
           return end.exit_code;
         }});
    outcome_ = simulation_.Run();
    EXPECT_EQ(outcome_.end, RunEnd::kAllExited) << outcome_.report;
    return end;
  }

  static int Play(World& world, const Script& script,
                  const WorkerReport& report) {
    const Time until = world.clock.Now() + script.runs;
    if (script.claims > 0) report(WorkerProgress{.claimed = script.claims});
    Time sign = world.clock.Now();
    const Time begin = world.clock.Now();
    size_t reported = 0;
    while (script.for_ever || world.clock.Now() < until) {
      if (script.patience > Duration::zero() && world.clock.Now() >= sign) {
        report(WorkerProgress{.patience = script.patience});
        sign = script.signs_every == Duration::zero()
                   ? kNever
                   : sign + script.signs_every;
      }
      while (reported < script.reports.size() &&
             world.clock.Now() >= begin + script.reports[reported].first) {
        report(script.reports[reported++].second);
      }
      if (script.leaves_after_notice && world.host.TerminationNotices() > 0) {
        world.clock.SleepUntil(world.clock.Now() + *script.leaves_after_notice);
        return static_cast<int>(WorkerExit::kStopped);
      }
      world.clock.SleepUntil(world.clock.Now() + milliseconds(1));
    }
    if (!script.says.empty()) report(TrainResult{.status = script.says});
    return script.exit;
  }

  size_t CountOf(WorkerSignal signal) const {
    return static_cast<size_t>(
        std::count_if(sent_.begin(), sent_.end(),
                      [&](const Sent& sent) { return sent.signal == signal; }));
  }

  FiberPool pool_;
  Simulation simulation_{pool_, {.seed = 5}};
  const Time begin_ = simulation_.now();
  ProcessId launcher_ = 0;
  LauncherOptions options_{.workers = 3};
  int fails_to_start_ = -1;
  std::optional<int> fails_in_incarnation_;  // nullopt: fails in each
  int ended_by_sigterm_ = -1;
  std::vector<int> incarnations_;             // in the order of starts
  std::vector<std::pair<int, int>> started_;  // worker and incarnation
  std::vector<Sent> sent_;
  std::vector<Restart> restarts_;
  std::vector<std::string> lines_;  // messages for users
  RunOutcome outcome_;
};

Script Done(const WorkerSpec& spec) {
  return {.says = spec.worker == 0 ? "done" : ""};
}

TEST_F(LauncherTest, FinishedJob_EndsWithCodeZero) {
  const LaunchEnd end = Launched(Done);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 0);
  EXPECT_TRUE(end.result);
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(LauncherTest, LossRestartsTheWholeJobAsTheNextAttempt) {
  options_.first_incarnation = 4;
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation == 5) return Done(spec);
    return {.exit = spec.worker == 1 ? 70 : 75};
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 1);
  EXPECT_EQ(end.reason, "");
  EXPECT_THAT(incarnations_, ElementsAre(4, 4, 4, 5, 5, 5));
}

TEST_F(LauncherTest, WithoutAPolicyALossIsTheEnd) {
  options_.restart = RestartPolicy::kNone;
  const LaunchEnd end =
      Launched([](const WorkerSpec&) { return Script{.exit = 70}; });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_EQ(end.restarts, 0);
  EXPECT_THAT(end.reason, HasSubstr("exited with code 70"));
}

// A restart would train the same steps again, and find the same disk.
TEST_F(LauncherTest, StartsNothingAgain_WhenAWorkerIsToStartLater) {
  for (const RestartPolicy policy :
       {RestartPolicy::kNone, RestartPolicy::kWholeJob,
        RestartPolicy::kRejoin}) {
    options_.restart = policy;
    const LaunchEnd end = Launched([](const WorkerSpec& spec) {
      const bool chief = spec.worker == 0;
      return Script{
          .exit = static_cast<int>(chief ? WorkerExit::kStartLater
                                         : WorkerExit::kLostWorker),
          .reports = {{milliseconds(1), {.failure = "step 8 was not saved"}}}};
    });
    EXPECT_EQ(end.exit_code, 75);
    EXPECT_EQ(end.restarts, 0);
    EXPECT_EQ(end.reason, "step 8 was not saved");
  }
}

TEST_F(LauncherTest, EndsWithTheGivenCode_WhenNoRestartIsAllowed) {
  options_.without_restarts = WorkerExit::kLostWorker;
  const auto dies = [](const WorkerSpec&) { return Script{.exit = 70}; };
  options_.max_restarts = 0;
  EXPECT_EQ(Launched(dies).exit_code, 75);
}

TEST_F(LauncherTest, GivingUpAfterARestartIsAFailure) {
  options_.without_restarts = WorkerExit::kLostWorker;
  options_.max_restarts = 1;
  const LaunchEnd end =
      Launched([](const WorkerSpec&) { return Script{.exit = 70}; });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.reason, HasSubstr("; gave up after 1 restart"));
  EXPECT_THAT(end.reason, Not(HasSubstr("1 restarts")));
}

TEST_F(LauncherTest, GivesUpAfterTheMaximumOfRestartsWithTheReason) {
  options_.max_restarts = 2;
  const LaunchEnd end = Launched([](const WorkerSpec& spec) {
    return Script{.runs = milliseconds(10 + spec.worker), .exit = 70};
  });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_EQ(end.restarts, 2);
  EXPECT_EQ(end.reason,
            "worker 0 exited with code 70; gave up after 2 restarts");
}

TEST_F(LauncherTest, GivesUpAfterAttemptsWithoutProgress) {
  options_.max_restarts_without_progress = 3;
  const LaunchEnd end = Launched([](const WorkerSpec& spec) {
    return Script{.runs = milliseconds(10 + spec.worker), .exit = 70};
  });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_EQ(end.restarts, 3);
  EXPECT_EQ(end.reason,
            "worker 0 exited with code 70; gave up after 4 attempts without "
            "progress");
}

TEST_F(LauncherTest, BackoffDoublesUpToItsBound) {
  options_.max_restarts = 5;
  options_.backoff = milliseconds(100);
  options_.max_backoff = milliseconds(500);
  Launched([](const WorkerSpec&) { return Script{.exit = 70}; });
  std::vector<Duration> pauses;
  for (const Restart& restart : restarts_) pauses.push_back(restart.pause);
  EXPECT_THAT(pauses, ElementsAre(milliseconds(100), milliseconds(200),
                                  milliseconds(400), milliseconds(500),
                                  milliseconds(500)));
  EXPECT_GE(Now(), milliseconds(1700)) << "they were slept";
}

TEST_F(LauncherTest, FirstBackoffIsBoundedToo) {
  options_.max_restarts = 1;
  options_.backoff = seconds(60);
  options_.max_backoff = seconds(1);
  Launched([](const WorkerSpec&) { return Script{.exit = 70}; });
  ASSERT_EQ(restarts_.size(), 1u);
  EXPECT_EQ(restarts_[0].pause, seconds(1));
}

// Checks the exit code of the launcher if workers end in different ways.
TEST_F(LauncherTest, DoesNotRestartAfterAPermanentFailure) {
  struct Row {
    std::vector<int> codes;
    int exit;
  };
  for (const Row& row :
       {Row{{75, 2, 75}, 2}, Row{{7, 7, 7}, 7}, Row{{75, 75, 1}, 1},
        Row{{1, 7, 2}, 2}, Row{{1, 7, 70}, 7}, Row{{70, 1, 75}, 1},
        Row{{8, 75, 75}, 8}, Row{{1, 8, 70}, 8}, Row{{8, 2, 1}, 2}}) {
    incarnations_.clear();
    const LaunchEnd end = Launched([&](const WorkerSpec& spec) {
      return Script{.exit = row.codes[static_cast<size_t>(spec.worker)]};
    });
    EXPECT_EQ(end.exit_code, row.exit);
    EXPECT_EQ(end.restarts, 0);
    EXPECT_EQ(incarnations_.size(), 3u);
    EXPECT_THAT(end.reason, HasSubstr(fmt::format("code {}", row.exit)));
  }
}

TEST_F(LauncherTest, LaterExitsDoNotChangeAResult) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) {
    return Script{.exit = spec.worker == 0 ? 70 : 75,
                  .says = spec.worker == 0 ? "done" : ""};
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(incarnations_, testing::SizeIs(3));
}

TEST_F(LauncherTest, StoppedResultEndsWith143) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) {
    return Script{.exit = 143, .says = spec.worker == 0 ? "stopped" : ""};
  });
  EXPECT_EQ(end.exit_code, 143);
  EXPECT_EQ(end.restarts, 0);
  EXPECT_EQ(end.result->status, "stopped");
}

TEST_F(LauncherTest, ShowsOnceThatARunIsNotFinite) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) {
    Script script = {.runs = milliseconds(20),
                     .exit = spec.incarnation == 1 ? 70 : 0};
    if (spec.worker != 0) return script;
    const uint64_t since = spec.incarnation == 1 ? 7 : 9;
    script.reports = {
        {milliseconds(5), {.line = "not finite", .not_finite_since = since}}};
    if (spec.incarnation == 2) script.says = "done";
    return script;
  });
  EXPECT_EQ(end.restarts, 1);
  EXPECT_THAT(lines_, ElementsAre("not finite"));
  EXPECT_EQ(end.result->not_finite_since, 7u);
}

// Another attempt would compute the same.
TEST_F(LauncherTest, RunThatIsNotFiniteIsNotRestarted) {
  for (const std::string says : {"not_finite", ""}) {
    const LaunchEnd end = Launched([&](const WorkerSpec& spec) {
      return Script{.exit = static_cast<int>(WorkerExit::kNotFinite),
                    .says = spec.rank == 0 ? says : ""};
    });
    EXPECT_EQ(end.exit_code, 9) << says;
    EXPECT_EQ(end.restarts, 0) << says;
  }
}

TEST_F(LauncherTest, WorkerThatLeavesOnANoticeGivesTheOthersTimeToSave) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) {
    return Script{.runs = spec.worker == 2 ? milliseconds(10) : seconds(5),
                  .exit = 143,
                  .says = spec.worker == 0 ? "stopped" : ""};
  });
  EXPECT_EQ(end.exit_code, 143);
  EXPECT_EQ(CountOf(WorkerSignal::kKill), 0u);
}

TEST_F(LauncherTest, FirstNoticeIsPassedOnToAllWorkersOnce) {
  NoticeAt(milliseconds(200));
  const LaunchEnd end = Launched([](const WorkerSpec& spec) {
    return Script{.leaves_after_notice = milliseconds(100 * spec.worker),
                  .for_ever = true};
  });
  EXPECT_EQ(end.exit_code, 75);
  EXPECT_THAT(end.reason, StartsWith("stop requested, but no worker saved: "));
  EXPECT_EQ(CountOf(WorkerSignal::kTerminate), 3u);
  EXPECT_EQ(CountOf(WorkerSignal::kKill), 0u);
}

TEST_F(LauncherTest, RepeatedNoticesChangeNothing) {
  for (const int ms : {200, 250, 300, 400, 900}) NoticeAt(milliseconds(ms));
  InterruptAt(milliseconds(500));
  const LaunchEnd end = Launched([](const WorkerSpec&) {
    return Script{.leaves_after_notice = seconds(2), .for_ever = true};
  });
  EXPECT_EQ(end.exit_code, 75);
  EXPECT_EQ(CountOf(WorkerSignal::kTerminate), 3u);
  EXPECT_EQ(CountOf(WorkerSignal::kKill), 0u);
  EXPECT_GE(Now(), milliseconds(2200));
}

TEST_F(LauncherTest, SecondInterruptKills) {
  InterruptAt(milliseconds(200));
  NoticeAt(milliseconds(500));
  InterruptAt(milliseconds(700));
  const LaunchEnd end =
      Launched([](const WorkerSpec&) { return Script{.for_ever = true}; });
  EXPECT_EQ(end.exit_code, 130);
  EXPECT_EQ(CountOf(WorkerSignal::kKill), 3u);
  EXPECT_LT(Now(), seconds(1));
}

TEST_F(LauncherTest, WorkerThatDoesNotLeaveInItsGraceIsKilled) {
  options_.stop_grace = seconds(3);
  NoticeAt(seconds(1));
  const LaunchEnd end =
      Launched([](const WorkerSpec&) { return Script{.for_ever = true}; });
  EXPECT_EQ(end.exit_code, 75);
  ASSERT_EQ(CountOf(WorkerSignal::kKill), 3u);
  EXPECT_GE(sent_.back().at, seconds(4));
  EXPECT_LT(sent_.back().at, milliseconds(4200));
}

TEST_F(LauncherTest, ChiefThatHangsIsKilledWithAllOthersAndStartedAgain) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation == 2) return Done(spec);
    return {.patience = spec.worker == 0 ? seconds(3) : seconds(0),
            .for_ever = true};
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 1);
  ASSERT_EQ(CountOf(WorkerSignal::kKill), 3u);
  EXPECT_GE(sent_[0].at, seconds(3));
  EXPECT_LT(sent_[0].at, milliseconds(3200));
  EXPECT_EQ(restarts_[0].reason, "the chief hangs: no sign of it for 3.0 s");
}

TEST_F(LauncherTest, ChiefWithTimelySigns_IsNotKilled) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Done(spec);
    script.runs = seconds(20);
    if (spec.worker == 0) script.patience = seconds(3);
    script.signs_every = seconds(2);
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 0);
}

// Messages that the worker sends during the launcher's pause are read
// afterwards.
TEST_F(LauncherTest, ItsOwnPauseMakesNobodyLate) {
  PauseAt(seconds(1), seconds(30));
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Done(spec);
    script.runs = seconds(40);
    if (spec.worker == 0) script.patience = seconds(3);
    script.signs_every = seconds(2);
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 0);
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(LauncherTest, PassesEarlierClaimsToEachIncarnation) {
  options_.checkpoint_directory = "/ckpt";
  std::vector<LaunchHold> holds;
  Launched([&](const WorkerSpec& spec) -> Script {
    if (spec.worker == 0) holds.push_back(spec.launch_hold);
    if (spec.incarnation == 3) return Done(spec);
    return {.exit = 75,
            .claims = spec.worker == 0 && spec.incarnation == 1 ? 6u : 0u};
  });
  const std::string launch = holds[0].launch;
  EXPECT_FALSE(launch.empty());
  EXPECT_THAT(holds, ElementsAre(LaunchHold{launch, 0}, LaunchHold{launch, 6},
                                 LaunchHold{launch, 6}));
}

TEST_F(LauncherTest, SurvivorThatNoticesNothingIsKilled) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation == 2) return Done(spec);
    if (spec.worker == 1) return {.exit = 70};
    return {.for_ever = true};
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 1);
  ASSERT_EQ(CountOf(WorkerSignal::kKill), 2u);
  EXPECT_LT(sent_[0].at, options_.survivors_grace + milliseconds(200));
  EXPECT_EQ(restarts_[0].reason, "worker 1 exited with code 70");
}

// Emits each event before its effects: a kill before the signal is sent, a
// start before the process exists.
TEST_F(LauncherTest, EmitsStartsKillsAndExitsOfWorkers) {
  options_.workers = 2;
  Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation == 2) return Done(spec);
    if (spec.worker == 1) return {.exit = 70};
    return {.for_ever = true};
  });
  std::vector<std::string> lines;
  for (const LoggedEvent& one : simulation_.events()) {
    if (one.process != launcher_) continue;
    std::string text(EventKindName(one.event.kind));
    if (one.event.about) {
      text += fmt::format(" {}.{}", *one.event.about, one.event.incarnation);
    }
    if (one.event.count != 0) text += fmt::format(" {}", one.event.count);
    if (one.event.reason != Reason::kNone) {
      text += fmt::format(" {}", ReasonName(one.event.reason));
    }
    lines.push_back(text);
  }
  EXPECT_THAT(
      lines,
      ElementsAre("launcher_started", "process_started 0.1",
                  "process_started 1.1 1", "process_exited 1.1 70 exited",
                  "attempt_ends 1.1 worker_died", "kill_sent 0.1 grace_over",
                  "process_exited 0.1 137 signal", "restarting 1.0 1",
                  "process_started 0.2", "process_started 1.2 1",
                  "process_exited 1.2 exited", "attempt_ends 1.2 worker_done",
                  "result_received 0.2", "process_exited 0.2 exited",
                  "launcher_exited"));
}

TEST_F(LauncherTest, ReportsThatItGivesUpWithTheReason) {
  options_.max_restarts = 1;
  Launched([](const WorkerSpec&) { return Script{.exit = 70}; });
  std::vector<Reason> reasons;
  for (const LoggedEvent& one : simulation_.events()) {
    if (one.event.kind == EventKind::kGaveUp) {
      reasons.push_back(one.event.reason);
    }
  }
  EXPECT_THAT(reasons, ElementsAre(Reason::kRestartsUsedUp));
}

// Returns a worker that leaves because its own device failed.
Script LosesItsDevice(Duration runs) {
  return {
      .runs = runs,
      .exit = 75,
      .reports = {{milliseconds(0),
                   {.failure = "device 0: lost", .own_device_failed = true}}}};
}

TEST_F(LauncherTest, NamesTheFailureRatherThanItsConsequences) {
  const struct {
    Script fails;
    const char* reason;
    size_t kills;
  } cases[] = {
      {{.runs = milliseconds(20), .exit = 70},
       "worker 1 exited with code 70",
       0},
      {LosesItsDevice(milliseconds(20)), "worker 1 exited: device 0: lost", 0},
      {{.for_ever = true},
       "worker 0 exited: another worker, the disk or memory failed; "
       "worker 1 did not answer in time, and was killed",
       1},
  };
  for (const auto& c : cases) {
    restarts_.clear();
    sent_.clear();
    const LaunchEnd end = Launched([&](const WorkerSpec& spec) -> Script {
      if (spec.incarnation == 2) return Done(spec);
      if (spec.worker == 1) return c.fails;
      return {.runs = milliseconds(10 + spec.worker), .exit = 75};
    });
    EXPECT_EQ(end.exit_code, 0);
    ASSERT_EQ(restarts_.size(), 1u);
    EXPECT_EQ(restarts_[0].reason, c.reason);
    EXPECT_EQ(CountOf(WorkerSignal::kKill), c.kills) << c.reason;
  }
}

// SIGTERM arrives before the worker can handle it: the worker is lost, not
// leaving.
TEST_F(LauncherTest, WorkerEndedByTheSignalItselfIsALoss) {
  ended_by_sigterm_ = 1;
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation == 2) return Done(spec);
    if (spec.worker == 1) return {.exit = 143};
    return {.for_ever = true};
  });
  EXPECT_EQ(end.exit_code, 0);
  ASSERT_EQ(restarts_.size(), 1u);
  EXPECT_EQ(restarts_[0].reason, "worker 1 was killed by signal 15");
  EXPECT_LT(Now(), seconds(2)) << "the others need not be waited for";
}

TEST_F(LauncherTest, NoticeBetweenTwoAttemptsStartsNoThird) {
  options_.backoff = seconds(5);
  NoticeAt(seconds(2));
  const LaunchEnd end =
      Launched([](const WorkerSpec&) { return Script{.exit = 70}; });
  EXPECT_EQ(end.exit_code, 143);
  EXPECT_EQ(end.reason, "stopped between two attempts");
  EXPECT_THAT(incarnations_, ElementsAre(1, 1, 1));
  EXPECT_LT(Now(), milliseconds(2200));
}

TEST_F(LauncherTest, FailedStartOfOneWorker_KillsTheStartedOnes) {
  fails_to_start_ = 2;
  const LaunchEnd end =
      Launched([](const WorkerSpec&) { return Script{.for_ever = true}; });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_EQ(end.reason, "no more");
  EXPECT_EQ(CountOf(WorkerSignal::kKill), 2u);
  EXPECT_LT(Now(), milliseconds(100));
  EXPECT_FALSE(end.result);
  std::vector<int> not_started;
  for (const LoggedEvent& one : simulation_.events()) {
    if (one.event.kind == EventKind::kExited &&
        one.event.reason == Reason::kNotStarted) {
      not_started.push_back(one.event.about.value());
    }
  }
  EXPECT_THAT(not_started, ElementsAre(2));
}

TEST_F(LauncherTest, DirectoryThatAnotherRunHoldsIsRefused) {
  options_.checkpoint_directory = "/ckpt";
  simulation_.Start(
      {.name = "other", .host = "launcher", .body = [](World& world) {
         const Status made = world.storage.MakeDirectory("/ckpt");
         EXPECT_TRUE(made.ok() || made.code() == Code::kAlreadyExists);
         const auto lock = world.storage.Lock("/ckpt/lock");
         EXPECT_TRUE(lock.ok());
         world.clock.SleepUntil(world.clock.Now() + seconds(60));
         return 0;
       }});
  const LaunchEnd end = Launched(Done);
  EXPECT_EQ(end.exit_code, 75);
  EXPECT_THAT(end.reason,
              StartsWith("/ckpt: in use by another run (lock /ckpt/lock: held "
                         "by process "));
  EXPECT_THAT(lines_, ElementsAre("waiting: " + end.reason));
  EXPECT_THAT(incarnations_, IsEmpty());
}

TEST_F(LauncherTest, WaitsForALockThatIsReleasedSoon) {
  options_.checkpoint_directory = "/ckpt";
  simulation_.Start(
      {.name = "other", .host = "launcher", .body = [](World& world) {
         const Status made = world.storage.MakeDirectory("/ckpt");
         EXPECT_TRUE(made.ok() || made.code() == Code::kAlreadyExists);
         const auto lock = world.storage.Lock("/ckpt/lock");
         EXPECT_TRUE(lock.ok());
         world.clock.SleepUntil(world.clock.Now() + seconds(2));
         return 0;
       }});
  EXPECT_EQ(Launched(Done).exit_code, 0);
}

TEST_F(LauncherTest, WorkersThatAllEndWithoutAResultAreALoss) {
  options_.max_restarts = 1;
  const LaunchEnd end = Launched([](const WorkerSpec&) { return Script{}; });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.reason, HasSubstr("no worker reported a result"));
}

TEST_F(LauncherTest, WorkerThatFailsAgainAndAgainIsExcluded) {
  options_.min_workers = 2;
  const struct {
    const char* name;
    Script fails;
  } cases[] = {
      {"dies", {.exit = 70}},
      {"loses its device", LosesItsDevice(milliseconds(20))},
      {"must be killed", {.for_ever = true}},
  };
  for (const auto& c : cases) {
    incarnations_.clear();
    const LaunchEnd end = Launched([&](const WorkerSpec& spec) -> Script {
      if (spec.addresses.size() == 2) return Done(spec);
      if (spec.worker == 1) return c.fails;
      return {.runs = milliseconds(11), .exit = 75};
    });
    EXPECT_EQ(end.exit_code, 0) << c.name;
    EXPECT_EQ(end.restarts, 3) << c.name;
    EXPECT_THAT(restarts_.back().reason,
                HasSubstr("worker 1 failed 3 times in a row; going on without "
                          "it"))
        << c.name;
    EXPECT_THAT(incarnations_, ElementsAre(1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4))
        << c.name;
  }
}

TEST_F(LauncherTest, WorkerThatCannotBeStartedIsExcluded) {
  options_.min_workers = 2;
  fails_to_start_ = 2;
  const LaunchEnd end = Launched(Done);
  EXPECT_EQ(end.exit_code, 0) << end.reason;
  EXPECT_EQ(end.restarts, 3);
  EXPECT_THAT(restarts_.back().reason,
              HasSubstr("not started: no more; worker 2 failed 3 times"));
}

TEST_F(LauncherTest, GivesUpWithTheReason_WhenTooFewWorkersAreLeft) {
  options_.min_workers = 2;
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    const int dies = spec.addresses.size() == 3 ? 1 : 2;
    if (spec.worker == dies) return {.exit = 70};
    return {.runs = milliseconds(11), .exit = 75};
  });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_EQ(end.restarts, 5);
  EXPECT_THAT(end.reason, HasSubstr("worker 2 failed 3 times in a row; without "
                                    "it there are 1 workers, expected at least "
                                    "2; gave up"));
}

TEST_F(LauncherTest, WorkersPerAttemptCountFromTheFirstAttempt) {
  options_.workers_per_attempt = {3, 1, 2};
  options_.first_incarnation = 2;
  Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation == 3) return Done(spec);
    return {.exit = 70};
  });
  EXPECT_THAT(incarnations_, ElementsAre(2, 3, 3));
}

// Returns a worker of a job that rejoins: all workers arrive immediately, and
// generation 1 forms.
Script Trains(const WorkerSpec& spec) {
  Script script = Done(spec);
  script.runs = milliseconds(1000);
  script.reports = {{milliseconds(0), {.rendezvous = 0}}};
  if (spec.rank == 0) {
    script.reports.push_back({milliseconds(1), {.formed = 1}});
  }
  return script;
}

void ReportAt(Duration when, const WorkerProgress& what, Script& script) {
  script.reports.emplace_back(when, what);
}

class RejoinTest : public LauncherTest {
 protected:
  RejoinTest() { options_.restart = RestartPolicy::kRejoin; }

  // `lose` sets how the first incarnation of worker 1 ends, after 20 ms. The
  // other workers arrive at the next rendezvous.
  void ExpectOnlyWorkerOneStartsAgain(
      const std::function<void(Script&)>& lose) {
    const LaunchEnd end = Launched([&](const WorkerSpec& spec) -> Script {
      Script script = Trains(spec);
      if (spec.worker == 1 && spec.incarnation == 1) {
        script.runs = milliseconds(20);
        lose(script);
      } else if (spec.incarnation == 1) {
        ReportAt(milliseconds(25), {.step = 7, .rendezvous = 1}, script);
        if (spec.rank == 0) ReportAt(milliseconds(300), {.formed = 2}, script);
      }
      return script;
    });
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_EQ(end.restarts, 1);
    EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(1, 1),
                                      std::pair(2, 1), std::pair(1, 2)));
    EXPECT_EQ(CountOf(WorkerSignal::kKill), 0u);
  }
};

TEST_F(RejoinTest, OnlyTheDeadWorkerIsStartedAgain) {
  ExpectOnlyWorkerOneStartsAgain([](Script& script) { script.exit = 70; });
  EXPECT_EQ(restarts_.at(0).reason, "worker 1 exited with code 70");
}

// All processes of a container are paused for two minutes: the other workers
// arrive at the next rendezvous only after the pause.
TEST_F(RejoinTest, PauseOfContainer_MakesNoSurvivorLate) {
  constexpr Duration kPause = seconds(120);
  PauseAt(milliseconds(22), kPause);
  const LaunchEnd end = Launched([&](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    script.runs = kPause + seconds(10);
    if (spec.worker == 1 && spec.incarnation == 1) {
      script.runs = milliseconds(20);
      script.exit = 70;
    } else if (spec.incarnation == 1) {
      ReportAt(kPause + milliseconds(200), {.step = 7, .rendezvous = 1},
               script);
      if (spec.rank == 0) ReportAt(kPause + seconds(1), {.formed = 2}, script);
    }
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 1);
  EXPECT_EQ(CountOf(WorkerSignal::kKill), 0u);
}

TEST_F(RejoinTest, OnlyTheWorkerThatLosesItsDeviceIsStartedAgain) {
  ExpectOnlyWorkerOneStartsAgain([](Script& script) {
    ReportAt(milliseconds(15),
             {.failure = "device 0: lost", .own_device_failed = true}, script);
    script.exit = 75;
  });
  EXPECT_EQ(restarts_.at(0).reason, "worker 1 exited: device 0: lost");
}

TEST_F(RejoinTest, ChiefWithALostDevice_IsReplacedAndTheJobFinishes) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    if (spec.worker == 0 && spec.incarnation == 1) {
      script = LosesItsDevice(milliseconds(20));
      ReportAt(milliseconds(0), {.rendezvous = 0}, script);
      ReportAt(milliseconds(1), {.formed = 1}, script);
    } else if (spec.incarnation == 1) {
      ReportAt(milliseconds(25), {.step = 7, .rendezvous = 1}, script);
    } else {
      script.reports = {{milliseconds(0), {.rendezvous = 0}},
                        {milliseconds(10), {.formed = 2}}};
    }
    return script;
  });
  EXPECT_EQ(end.restarts, 1);
  EXPECT_EQ(end.exit_code, 0) << end.reason;
}

// The chief reports that the generation has formed after the launcher has
// detected the death.
TEST_F(RejoinTest, DeathAsAGenerationFormsIsOneRestart) {
  options_.backoff = milliseconds(100);
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    if (spec.worker == 1 && spec.incarnation < 3) {
      script.runs = milliseconds(20);
      script.exit = 70;
    } else if (spec.incarnation == 1) {
      ReportAt(milliseconds(25), {.step = 7, .rendezvous = 1}, script);
      if (spec.rank == 0) ReportAt(milliseconds(160), {.formed = 2}, script);
      ReportAt(milliseconds(165), {.step = 7, .rendezvous = 2}, script);
      if (spec.rank == 0) ReportAt(milliseconds(500), {.formed = 3}, script);
    }
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 2);
  EXPECT_THAT(started_,
              ElementsAre(std::pair(0, 1), std::pair(1, 1), std::pair(2, 1),
                          std::pair(1, 2), std::pair(1, 3)));
}

TEST_F(RejoinTest, WorkerThatMissesTheRendezvousIsKilledAndStartedAgain) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    if (spec.worker == 2 && spec.incarnation == 1) {
      script.for_ever = true;
    } else if (spec.incarnation == 1) {
      script.runs = seconds(3);
      ReportAt(milliseconds(25), {.rendezvous = 1}, script);
      if (spec.rank == 0) ReportAt(milliseconds(900), {.formed = 2}, script);
    }
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 1);
  EXPECT_THAT(sent_, testing::SizeIs(1));
  EXPECT_EQ(sent_.at(0).worker, 2);
  EXPECT_THAT(started_.back(), testing::Pair(2, 2));
}

TEST_F(RejoinTest, WorkerInASaveHasTheTimeOfASave) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    if (spec.worker == 1 && spec.incarnation == 1) {
      script.runs = milliseconds(20);
      script.exit = 70;
    } else if (spec.incarnation == 1) {
      script.runs = seconds(8);
      const bool saves = spec.worker == 2;
      if (saves) ReportAt(milliseconds(10), {.saving = seconds(9)}, script);
      ReportAt(saves ? seconds(4) : milliseconds(25),
               {.step = 7, .rendezvous = 1}, script);
      if (spec.rank == 0) ReportAt(seconds(5), {.formed = 2}, script);
    }
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 1);
  EXPECT_EQ(CountOf(WorkerSignal::kKill), 0u);
}

TEST_F(RejoinTest, WorkerThatHangsInASaveIsKilledAfterTheBound) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    if (spec.worker == 2 && spec.incarnation == 1) {
      script.for_ever = true;
      ReportAt(milliseconds(10), {.saving = seconds(2)}, script);
    } else if (spec.incarnation == 1) {
      script.runs = seconds(5);
      ReportAt(milliseconds(25), {.rendezvous = 1}, script);
      if (spec.rank == 0) ReportAt(seconds(3), {.formed = 2}, script);
    }
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  ASSERT_THAT(sent_, testing::SizeIs(1));
  EXPECT_EQ(sent_.at(0).worker, 2);
  EXPECT_GE(sent_.at(0).at, seconds(2));
  EXPECT_LE(sent_.at(0).at, milliseconds(2200));
}

TEST_F(RejoinTest, WorkersThatLoseEachOtherCountAsARestartToo) {
  options_.max_restarts = 2;
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    for (uint64_t i = 1; i < 5; ++i) {
      const auto at = milliseconds(100 * static_cast<int>(i));
      ReportAt(at, {.step = i, .rendezvous = i}, script);
      if (spec.rank == 0) {
        ReportAt(at + milliseconds(50), {.formed = i + 1}, script);
      }
    }
    return script;
  });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_EQ(end.restarts, 2);
  EXPECT_EQ(end.reason, "workers lost each other; gave up after 2 restarts");
  EXPECT_THAT(started_, testing::SizeIs(3)) << "no process was lost";
}

TEST_F(RejoinTest, RejoiningWithoutANewStepIsNoProgress) {
  options_.max_restarts_without_progress = 2;
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    for (uint64_t i = 1; i < 6; ++i) {
      const auto at = milliseconds(100 * static_cast<int>(i));
      ReportAt(at, {.step = 7, .rendezvous = i}, script);
      if (spec.rank == 0) {
        ReportAt(at + milliseconds(50), {.formed = i + 1}, script);
      }
    }
    return script;
  });
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.reason, HasSubstr("3 attempts without progress"));
}

TEST_F(RejoinTest, WorkerThatLeavesTheRendezvousStartsTheWholeJobAgain) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation > 2) return Done(spec);
    Script script = Trains(spec);
    if (spec.worker == 1 && spec.incarnation == 1) {
      script.runs = milliseconds(20);
      script.exit = 70;
    } else if (spec.incarnation == 1) {
      ReportAt(milliseconds(25), {.rendezvous = 1}, script);
      if (spec.rank == 0) script.runs = milliseconds(400);
      if (spec.rank == 0) script.says = "";
      if (spec.rank == 0) script.exit = 75;
    }
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 2);
  EXPECT_THAT(incarnations_, ElementsAre(1, 1, 1, 2, 3, 3, 3));
}

TEST_F(RejoinTest, WholeJobStartsAgain_WhenAllWorkersDie) {
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation == 2) return Done(spec);
    Script script = Trains(spec);
    script.runs = milliseconds(20);
    script.says = "";
    script.exit = 70;
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 1);
  EXPECT_THAT(incarnations_, ElementsAre(1, 1, 1, 2, 2, 2));
}

// Workers 1 and 2 die together. Worker 1 cannot be restarted, which ends the
// attempt.
TEST_F(RejoinTest, RestartsNoOtherWorker_OnceOneCannotBeStarted) {
  options_.min_workers = 2;
  fails_to_start_ = 1;
  fails_in_incarnation_ = 2;
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation > 1) return Done(spec);
    Script script = Trains(spec);
    if (spec.worker == 0) {
      ReportAt(milliseconds(25), {.step = 7, .rendezvous = 1}, script);
    } else {
      script.runs = milliseconds(20);
      script.exit = 70;
    }
    return script;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.restarts, 2);
  EXPECT_THAT(started_,
              ElementsAre(std::pair(0, 1), std::pair(1, 1), std::pair(2, 1),
                          std::pair(0, 3), std::pair(1, 3), std::pair(2, 3)));
}

TEST_F(RejoinTest, LostWorkerIsRestartedDuringANotice_SoAllCanSave) {
  NoticeAt(milliseconds(15));
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    if (spec.worker == 1 && spec.incarnation == 1) {
      script.runs = milliseconds(20);
      script.exit = 70;
      return script;
    }
    if (spec.incarnation == 1) {
      ReportAt(milliseconds(25), {.rendezvous = 1}, script);
      if (spec.rank == 0) ReportAt(milliseconds(300), {.formed = 2}, script);
    }
    if (spec.rank == 0) script.says = "stopped";
    script.exit = 143;
    return script;
  });
  EXPECT_EQ(end.exit_code, 143);
  EXPECT_TRUE(end.result);
  EXPECT_THAT(started_.back(), testing::Pair(1, 2));
}

Script Lost(const WorkerSpec& spec) {
  return {.exit = spec.worker == 1 ? 70 : 75};
}

TEST_F(LauncherTest, SeesAFileThatAppearsWhileItPauses) {
  options_.backoff = seconds(8);
  options_.notices.file = "/notice";
  simulation_.At(begin_ + seconds(3), [this] {
    EXPECT_TRUE(simulation_.storage("launcher")
                    .Open("/notice", OpenMode::kCreateTruncate)
                    .ok());
  });
  const LaunchEnd end = Launched(Lost);
  EXPECT_EQ(end.exit_code, 143);
  EXPECT_EQ(end.reason, "stopped between two attempts");
  EXPECT_EQ(end.restarts, 0);
  EXPECT_EQ(incarnations_.size(), 3u);
  EXPECT_LE(Now(), milliseconds(4200));
}

TEST_F(LauncherTest, PollsTheMetadataServiceDuringAPause) {
  options_.backoff = seconds(8);
  options_.notices.url = "http://169.254.169.254/x";
  simulation_.At(begin_ + seconds(3), [this] {
    simulation_.SetMetadata("launcher", MetadataAnswering("TRUE"));
  });
  EXPECT_EQ(Launched(Lost).exit_code, 143);
  EXPECT_LE(Now(), milliseconds(4200));
}

TEST_F(LauncherTest, HangingMetadataService_DoesNotDelayARestart) {
  options_.max_restarts = 1;
  options_.notices.url = "http://169.254.169.254/x";
  simulation_.SetMetadata("launcher",
                          {.behavior = MetadataService::Behavior::kHangs});
  EXPECT_EQ(Launched(Lost).restarts, 1);
  EXPECT_LE(Now(), milliseconds(300));
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(LauncherTest, ChiefThatNeverSendsAMessageHangs) {
  options_.start_timeout = seconds(20);
  const LaunchEnd end = Launched([](const WorkerSpec& spec) -> Script {
    if (spec.incarnation == 2) return Done(spec);
    return {.for_ever = true};
  });
  EXPECT_EQ(end.exit_code, 0);
  ASSERT_EQ(restarts_.size(), 1u);
  EXPECT_EQ(restarts_[0].reason, "the chief hangs: no sign of it for 20.0 s");
  EXPECT_GE(Now(), seconds(20));
  EXPECT_LE(Now(), seconds(21));
}

TEST_F(RejoinTest, ChiefThatIsStartedAgainAndSendsNothingHangs) {
  options_.start_timeout = seconds(2);
  Launched([](const WorkerSpec& spec) -> Script {
    Script script = Trains(spec);
    if (spec.incarnation == 2) return {.for_ever = true};
    if (spec.incarnation > 2) return script;
    script.runs = spec.worker == 0 ? milliseconds(20) : seconds(60);
    script.exit = spec.worker == 0 ? 70 : 75;
    script.says.clear();
    if (spec.worker != 0) {
      ReportAt(milliseconds(25), {.step = 7, .rendezvous = 1}, script);
    }
    return script;
  });
  ASSERT_EQ(restarts_.size(), 2u);
  EXPECT_THAT(restarts_.back().reason, HasSubstr("the chief hangs"));
  EXPECT_LE(Now(), seconds(8));
}

}  // namespace
}  // namespace gauntlet
