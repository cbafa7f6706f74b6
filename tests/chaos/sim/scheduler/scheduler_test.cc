#include "chaos/sim/scheduler/scheduler.h"

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Call final : public Action {
 public:
  explicit Call(std::function<void()> call) : call_(std::move(call)) {}
  void Act(uint64_t /*argument*/) override { call_(); }

 private:
  std::function<void()> call_;
};

// Counts the frames of killed tasks that are unwound.
struct Marks {
  int& count;
  ~Marks() { ++count; }
};

class SchedulerTest : public testing::Test {
 protected:
  // Spawns a task of the process `group_`.
  void Spawn(std::function<void()> body) {
    group_.on_gone = [this] { gone_ = true; };
    scheduler_.Spawn(group_, std::make_shared<TaskState>(), std::move(body));
  }
  WaitResult WaitFor(Duration time) {
    return scheduler_.Wait(&list_, scheduler_.now() + time, {});
  }
  void SpawnVictims(FiberGroup& group, Duration wait, int& unwound) {
    for (int i = 0; i < 2; ++i) {
      scheduler_.Spawn(group, std::make_shared<TaskState>(), [&, wait] {
        const Marks marks{unwound};
        while (true) WaitFor(wait);
      });
    }
  }
  // Returns how a world of `count` tasks with the same body ends.
  RunEnd RunTasks(int count, const std::function<void()>& body) {
    group_ = {};
    gone_ = false;
    for (int i = 0; i < count; ++i) Spawn(body);
    return Run();
  }
  RunEnd Run() {
    std::string report;
    return scheduler_.Run(report);
  }

  FiberPool pool_{/*stack_bytes=*/size_t{64} << 10};
  SchedulerOptions options_{.step_limit = 100,
                            .interrupted = [this] { return interrupted_; }};
  FiberGroup group_;
  WaitList list_;
  bool gone_ = false;
  bool interrupted_ = false;
  Scheduler scheduler_{pool_, /*seed=*/1, options_};
};

TEST_F(SchedulerTest, LoneTasksWaitTakesItsTimeAndADecision) {
  Spawn([&] {
    const Time begin = scheduler_.now();
    const uint64_t steps = scheduler_.steps();
    EXPECT_EQ(WaitFor(seconds(5)), WaitResult::kDeadline);
    EXPECT_EQ(scheduler_.steps(), steps + 1);
    EXPECT_EQ(scheduler_.now() - begin, seconds(5) + options_.step_cost);
    EXPECT_TRUE(scheduler_.InFiber());
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_TRUE(gone_);
}

TEST_F(SchedulerTest, ActionDuringAWaitIsOfNoFiberAndMayWake) {
  bool in_fiber = true;
  Time acted;
  Call wake([&] {
    in_fiber = scheduler_.InFiber();
    acted = scheduler_.now();
    scheduler_.WakeAll(list_);
  });
  Time due;
  Spawn([&] {
    due = scheduler_.now() + milliseconds(3);
    scheduler_.At(due, wake, 0);
    EXPECT_EQ(WaitFor(seconds(5)), WaitResult::kWoken);
    EXPECT_LT(scheduler_.now(), due + milliseconds(1));
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_FALSE(in_fiber);
  EXPECT_EQ(acted, due);
}

TEST_F(SchedulerTest, DropsTimersWhenAllProcessesHaveEnded) {
  bool acted = false;
  Call later([&] { acted = true; });
  Time end;
  Spawn([&] {
    end = scheduler_.now();
    scheduler_.At(end + seconds(5), later, 0);
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_FALSE(acted);
  EXPECT_EQ(scheduler_.now(), end);
}

TEST_F(SchedulerTest, ActionKillsTheWaitingProcess) {
  Call kill([&] { scheduler_.Kill(group_); });
  int unwound = 0;
  Spawn([&] {
    const Marks marks{unwound};
    scheduler_.At(scheduler_.now() + milliseconds(3), kill, 0);
    WaitFor(seconds(5));
    ADD_FAILURE() << "a killed task went on";
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_EQ(unwound, 1);
  EXPECT_TRUE(gone_);
}

// The victims are tasks of another process. The action that kills them becomes
// due while they and the test's own task wait.
TEST_F(SchedulerTest, ActionKillsAnotherProcess_WhileOneWaits) {
  FiberGroup victims;
  int unwound = 0;
  SpawnVictims(victims, seconds(5), unwound);
  Call kill([&] { scheduler_.Kill(victims); });
  Spawn([&] {
    WaitFor(milliseconds(1));
    scheduler_.At(scheduler_.now() + milliseconds(3), kill, 0);
    WaitFor(milliseconds(2));
    EXPECT_EQ(unwound, 0);
    WaitFor(milliseconds(2));
    EXPECT_EQ(unwound, 2);
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_TRUE(gone_);
}

TEST_F(SchedulerTest, ProcessIsKilledBeforeGivenResumption) {
  group_.killed_at_resumption = 3;
  int resumptions = 0;
  Spawn([&] {
    while (true) {
      ++resumptions;
      WaitFor(milliseconds(1));
    }
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_EQ(resumptions, 2);
  EXPECT_TRUE(gone_);
}

// A task of the process that is killed becomes due while the task of the other
// process waits.
TEST_F(SchedulerTest, ProcessIsKilledAtGivenResumption_WhileAnotherWaits) {
  FiberGroup victims{.killed_at_resumption = 5};
  int unwound = 0;
  SpawnVictims(victims, milliseconds(20), unwound);
  Spawn([&] {
    for (int i = 0; i < 50; ++i) WaitFor(milliseconds(1));
    EXPECT_EQ(unwound, 2);
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_EQ(victims.resumptions, 5u);
  EXPECT_TRUE(gone_);
}

// Tries one task, which is its own successor, and several that alternate.
TEST_F(SchedulerTest, EndsAtTheLimits_IfTasksWait) {
  for (const int tasks : {1, 3}) {
    const uint64_t before = scheduler_.steps();
    EXPECT_EQ(RunTasks(tasks,
                       [&] {
                         while (true) WaitFor(milliseconds(1));
                       }),
              RunEnd::kStepLimit);
    EXPECT_EQ(scheduler_.steps() - before, 100u);
    EXPECT_TRUE(gone_);
    EXPECT_EQ(RunTasks(tasks,
                       [&] {
                         while (true) WaitFor(std::chrono::minutes(20));
                       }),
              RunEnd::kTimeLimit);
    EXPECT_EQ(RunTasks(tasks, [&] { scheduler_.Wait(&list_, kNever, {}); }),
              RunEnd::kDeadlock);
  }
}

TEST_F(SchedulerTest, TaskIsDoneWhenItsBodyHasEndedAndNoOtherTaskIs) {
  const std::array tasks = {std::make_shared<TaskState>(),
                            std::make_shared<TaskState>()};
  std::optional<size_t> first;
  int waits_after = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    scheduler_.Spawn(group_, tasks[i], [&, i] {
      if (!first) {
        first = i;
        while (!tasks[1 - i]->done) WaitFor(milliseconds(1));
        for (; waits_after < 3; ++waits_after) WaitFor(milliseconds(1));
      } else {
        for (int n = 0; n < 5; ++n) WaitFor(milliseconds(1));
        EXPECT_FALSE(tasks[*first]->done);
      }
    });
  }
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_EQ(waits_after, 3);
  EXPECT_TRUE(tasks[*first]->done);
}

TEST_F(SchedulerTest, ProcessIsKilledByATaskOfAnotherAndItsTasksDoNotContinue) {
  FiberGroup victims;
  int unwound = 0;
  SpawnVictims(victims, milliseconds(1), unwound);
  Spawn([&] {
    WaitFor(milliseconds(5));
    scheduler_.Kill(victims);
    const uint64_t resumptions = victims.resumptions;
    EXPECT_EQ(unwound, 0);
    WaitFor(milliseconds(1));
    EXPECT_EQ(unwound, 2);
    EXPECT_EQ(victims.resumptions, resumptions);
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_EQ(unwound, 2);
  EXPECT_TRUE(gone_);
}

TEST_F(SchedulerTest, InterruptDuringWait_EndsRun) {
  for (const int tasks : {1, 3}) {
    interrupted_ = false;
    const Time begin = scheduler_.now();
    Call interrupt([&] { interrupted_ = true; });
    scheduler_.At(begin + milliseconds(3), interrupt, 0);
    EXPECT_EQ(RunTasks(tasks,
                       [&] {
                         while (true) WaitFor(milliseconds(1));
                       }),
              RunEnd::kInterrupted);
    EXPECT_LT(scheduler_.now() - begin, milliseconds(4));
    EXPECT_TRUE(gone_);
  }
}

}  // namespace
}  // namespace gauntlet
