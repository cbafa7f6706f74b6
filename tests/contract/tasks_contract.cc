#include <vector>

#include "engine/world/queue.h"
#include "tests/contract/world_fixture.h"

namespace gauntlet {
namespace {

TEST_P(ClockContract, NeverGoesBack) {
  InWorld([](World& world) {
    Time last = world.clock.Now();
    for (int i = 0; i < 1000; ++i) {
      const Time now = world.clock.Now();
      ASSERT_GE(now, last);
      last = now;
    }
  });
}

TEST_P(ClockContract, SleepsUntilTheDeadlineAndNotLess) {
  InWorld([](World& world) {
    const Time deadline = world.clock.Now() + kShort;
    world.clock.SleepUntil(deadline);
    EXPECT_GE(world.clock.Now(), deadline);
  });
}

TEST_P(ClockContract, DoesNotSleepForADeadlineInThePast) {
  InWorld([](World& world) {
    const Time before = world.clock.Now();
    world.clock.SleepUntil(before - kSoon);
    EXPECT_LT(world.clock.Now(), before + kSoon);
  });
}

TEST_P(ClockContract, ReturnsTheYear) {
  InWorld([](World& world) {
    constexpr int64_t kYear2025 = 1'735'689'600;
    EXPECT_GT(world.clock.UnixSeconds(), kYear2025);
  });
}

TEST_P(ClockContract, SleepBlocksOnlyTheCallingTask) {
  InWorld([](World& world) {
    const auto done = world.tasks.NewEvent();
    const Time late = world.clock.Now() + kShort;
    const auto sleeper =
        world.tasks.Spawn("sleeper", [&] { world.clock.SleepUntil(late); });
    const auto setter = world.tasks.Spawn("setter", [&] { done->Set(); });
    EXPECT_TRUE(done->WaitUntil(world.clock.Now() + kSoon));
    sleeper->Join();
    setter->Join();
    EXPECT_GE(world.clock.Now(), late);
  });
}

TEST_P(TasksContract, JoinWaitsForTheBody) {
  InWorld([](World& world) {
    bool finished = false;
    const auto task = world.tasks.Spawn("worker", [&] {
      world.clock.SleepUntil(world.clock.Now() + kShort);
      finished = true;
    });
    task->Join();
    EXPECT_TRUE(finished);
  });
}

TEST_P(TasksContract, JoinReturnsForABodyThatHasEndedAlready) {
  InWorld([](World& world) {
    const auto ended = world.tasks.NewEvent();
    const auto task = world.tasks.Spawn("quick", [&] { ended->Set(); });
    ASSERT_TRUE(ended->WaitUntil(world.clock.Now() + kSoon));
    task->Join();
  });
}

TEST_P(TasksContract, TasksSpawnTasks) {
  InWorld([](World& world) {
    int depth = 0;
    const auto outer = world.tasks.Spawn("outer", [&] {
      const auto inner = world.tasks.Spawn("inner", [&] { depth = 2; });
      inner->Join();
    });
    outer->Join();
    EXPECT_EQ(depth, 2);
  });
}

TEST_P(TasksContract, EventIsUnsetAtFirst) {
  InWorld([](World& world) {
    const auto event = world.tasks.NewEvent();
    const Time deadline = world.clock.Now() + kShort;
    EXPECT_FALSE(event->WaitUntil(deadline));
    EXPECT_GE(world.clock.Now(), deadline);
  });
}

TEST_P(TasksContract, EventStaysSetUntilItIsReset) {
  InWorld([](World& world) {
    const auto event = world.tasks.NewEvent();
    event->Set();
    event->Set();
    EXPECT_TRUE(event->WaitUntil(kNever));
    EXPECT_TRUE(event->WaitUntil(kNever));
    event->Reset();
    EXPECT_FALSE(event->WaitUntil(world.clock.Now() + kShort));
    event->Set();
    EXPECT_TRUE(event->WaitUntil(kNever));
  });
}

TEST_P(TasksContract, SetEventAnswersTrueAfterTheDeadline) {
  InWorld([](World& world) {
    const auto event = world.tasks.NewEvent();
    event->Set();
    EXPECT_TRUE(event->WaitUntil(world.clock.Now() - kSoon));
  });
}

TEST_P(TasksContract, EventWakesAllWaiters) {
  InWorld([](World& world) {
    const auto event = world.tasks.NewEvent();
    std::vector<std::unique_ptr<Task>> waiters;
    std::vector<char> woken(8, 0);
    for (char& flag : woken) {
      waiters.push_back(world.tasks.Spawn(
          "waiter", [&] { flag = event->WaitUntil(kNever) ? 1 : 0; }));
    }
    world.clock.SleepUntil(world.clock.Now() + kShort);
    event->Set();
    for (const auto& waiter : waiters) waiter->Join();
    EXPECT_EQ(woken, std::vector<char>(8, 1));
  });
}

TEST_P(QueueContract, HandsOutItemsInOrder) {
  InWorld([](World& world) {
    Queue<int> queue(world.tasks);
    const auto producer = world.tasks.Spawn("producer", [&] {
      for (int i = 0; i < 100; ++i) queue.Push(i);
    });
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(queue.Pop(world.clock.Now() + kSoon), i);
    }
    producer->Join();
  });
}

TEST_P(QueueContract, PopEndsAtTheDeadline) {
  InWorld([](World& world) {
    Queue<int> queue(world.tasks);
    EXPECT_EQ(queue.Pop(world.clock.Now() + kShort), std::nullopt);
    EXPECT_FALSE(queue.closed());
    queue.Push(5);
    EXPECT_EQ(queue.Pop(world.clock.Now() + kSoon), 5);
  });
}

TEST_P(QueueContract, CloseLetsPopDrainAndIgnoresPush) {
  InWorld([](World& world) {
    Queue<int> queue(world.tasks);
    queue.Push(1);
    queue.Close();
    queue.Push(2);
    EXPECT_EQ(queue.Pop(kNever), 1);
    EXPECT_EQ(queue.Pop(kNever), std::nullopt);
    EXPECT_TRUE(queue.closed());
  });
}

TEST_P(QueueContract, CloseWakesAWaitingPop) {
  InWorld([](World& world) {
    Queue<int> queue(world.tasks);
    const auto closer = world.tasks.Spawn("closer", [&] {
      world.clock.SleepUntil(world.clock.Now() + kShort);
      queue.Close();
    });
    EXPECT_EQ(queue.Pop(kNever), std::nullopt);
    closer->Join();
  });
}

TEST_P(QueueContract, ManyTasksShareTheItemsWithoutLoss) {
  InWorld([](World& world) {
    Queue<int> queue(world.tasks);
    std::vector<int> sums(4, 0);
    std::vector<std::unique_ptr<Task>> tasks;
    for (int& sum : sums) {
      tasks.push_back(world.tasks.Spawn("consumer", [&] {
        while (const auto item = queue.Pop(kNever)) sum += *item;
      }));
    }
    for (int i = 1; i <= 200; ++i) queue.Push(i);
    queue.Close();
    for (const auto& task : tasks) task->Join();
    EXPECT_EQ(sums[0] + sums[1] + sums[2] + sums[3], 200 * 201 / 2);
  });
}

}  // namespace
}  // namespace gauntlet
