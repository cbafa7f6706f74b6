#include "chaos/sim/scheduler.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
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

// One process with one task: nobody else's turn comes while it waits.
class SchedulerTest : public testing::Test {
 protected:
  void Spawn(std::function<void()> body) {
    group_.on_gone = [this] { gone_ = true; };
    scheduler_.Spawn(group_, std::make_shared<TaskState>(), std::move(body));
  }
  WaitResult WaitFor(Duration time) {
    return scheduler_.Wait(&list_, scheduler_.now() + time, {});
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

TEST_F(SchedulerTest, ALoneTasksWaitTakesItsTimeAndADecision) {
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

TEST_F(SchedulerTest, AnActionDuringAWaitIsOfNoFiberAndMayWake) {
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

TEST_F(SchedulerTest, AnActionMayKillTheProcessInWhoseWaitItComesDue) {
  Call kill([&] { scheduler_.Doom(group_); });
  bool unwound = false;
  Spawn([&] {
    struct Marks {
      bool& mark;
      ~Marks() { mark = true; }
    } const marks{unwound};
    scheduler_.At(scheduler_.now() + milliseconds(3), kill, 0);
    WaitFor(seconds(5));
    ADD_FAILURE() << "a killed task went on";
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_TRUE(unwound);
  EXPECT_TRUE(gone_);
}

TEST_F(SchedulerTest, AProcessIsKilledBeforeTheResumptionThatIsNamed) {
  group_.doomed_at_resumption = 3;
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

TEST_F(SchedulerTest, ATaskThatOnlyWaitsForItselfMeetsTheLimits) {
  Spawn([&] {
    while (true) WaitFor(milliseconds(1));
  });
  EXPECT_EQ(Run(), RunEnd::kStepLimit);
  EXPECT_EQ(scheduler_.steps(), 100u);
  EXPECT_TRUE(gone_);

  group_ = {};
  Spawn([&] {
    while (true) WaitFor(std::chrono::minutes(20));
  });
  EXPECT_EQ(Run(), RunEnd::kTimeLimit);

  group_ = {};
  Spawn(
      [&] { scheduler_.Wait(&list_, kNever, {.verb = "waits", .what = {}}); });
  EXPECT_EQ(Run(), RunEnd::kDeadlock);
}

// Each of them goes on from the wait of the other, not from the scheduler.
TEST_F(SchedulerTest, WhoEndsIsWhoWentOnLast) {
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

TEST_F(SchedulerTest, AProcessIsKilledByATaskOfAnotherAndItsTasksDoNotGoOn) {
  FiberGroup victims;
  bool killed = false;
  int unwound = 0;
  struct Marks {
    int& count;
    ~Marks() { ++count; }
  };
  for (int i = 0; i < 2; ++i) {
    scheduler_.Spawn(victims, std::make_shared<TaskState>(), [&] {
      const Marks marks{unwound};
      while (true) {
        EXPECT_FALSE(killed);
        WaitFor(milliseconds(1));
      }
    });
  }
  Spawn([&] {
    WaitFor(milliseconds(5));
    scheduler_.Doom(victims);
    killed = true;
    EXPECT_EQ(unwound, 0);
    WaitFor(milliseconds(1));
    EXPECT_EQ(unwound, 2);
  });
  EXPECT_EQ(Run(), RunEnd::kAllExited);
  EXPECT_EQ(unwound, 2);
  EXPECT_TRUE(gone_);
}

TEST_F(SchedulerTest, AWorldThatIsInterruptedInAWaitEnds) {
  Call interrupt([&] { interrupted_ = true; });
  Spawn([&] {
    scheduler_.At(scheduler_.now() + milliseconds(3), interrupt, 0);
    while (true) WaitFor(milliseconds(1));
  });
  EXPECT_EQ(Run(), RunEnd::kInterrupted);
  EXPECT_LE(scheduler_.steps(), 5u);
  EXPECT_TRUE(gone_);
}

}  // namespace
}  // namespace gauntlet
