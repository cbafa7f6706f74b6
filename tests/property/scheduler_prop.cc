// Fairness of the simulation's scheduler, for any seed.
#include <algorithm>
#include <set>
#include <sstream>

#include "chaos/sim/simulation.h"
#include "tests/property/property.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Crowd {
  int tasks = 1;
  int turns = 1;  // per task
  uint64_t seed = 0;
};

std::string ToText(const Crowd& crowd) {
  return fmt::format("{} {} {}\n", crowd.tasks, crowd.turns, crowd.seed);
}

Result<Crowd> FromText(std::string_view text) {
  std::istringstream in{std::string(text)};
  Crowd crowd;
  in >> crowd.tasks >> crowd.turns >> crowd.seed;
  if (!in) return InvalidArgument("expected three numbers");
  return crowd;
}

rc::Gen<Crowd> AnyCrowd() {
  return rc::gen::exec([] {
    return Crowd{.tasks = *rc::gen::inRange(1, 120),
                 .turns = *rc::gen::inRange(1, 30),
                 .seed = *rc::gen::arbitrary<uint64_t>()};
  });
}

struct Turn {
  int task = 0;
  Time time;
  auto operator<=>(const Turn&) const = default;
};

// Runs a process whose tasks only yield. When all have ended, the process
// sleeps for 5 s; `woke` is the time at its end. Returns the turns of the
// tasks.
std::vector<Turn> TurnsOf(const Crowd& crowd, Time* woke = nullptr) {
  FiberPool pool;
  Simulation simulation(pool, {.seed = crowd.seed});
  std::vector<Turn> turns;
  simulation.Start(
      {.name = "crowd", .body = [&](World& world) {
         std::vector<std::unique_ptr<Task>> tasks;
         for (int task = 0; task < crowd.tasks; ++task) {
           tasks.push_back(world.tasks.Spawn("task", [&, task] {
             for (int turn = 0; turn < crowd.turns; ++turn) {
               turns.push_back({.task = task, .time = world.clock.Now()});
               world.clock.SleepUntil(world.clock.Now());
             }
           }));
         }
         for (const auto& task : tasks) task->Join();
         world.clock.SleepUntil(world.clock.Now() + std::chrono::seconds(5));
         if (woke != nullptr) *woke = world.clock.Now();
         return 0;
       }});
  simulation.Run();
  return turns;
}

// Returns the number of decisions that a runnable task may have to wait for.
// Let n be the number of tasks, including the one that spawns them. Each
// decision picks the task with a probability of at least 1 in n. The
// probability that a task still waits after 60 n decisions is below e^-60, so
// no number of runs will ever show this.
size_t LongestWait(int tasks) { return 60 * (static_cast<size_t>(tasks) + 1); }

std::string Starved(const Crowd& crowd) {
  const std::vector<Turn> turns = TurnsOf(crowd);
  const size_t expected =
      static_cast<size_t>(crowd.tasks) * static_cast<size_t>(crowd.turns);
  if (turns.size() != expected) return "a task never finished";
  std::vector<size_t> last(static_cast<size_t>(crowd.tasks), 0);
  std::vector<int> taken(last.size(), 0);
  for (size_t now = 0; now < turns.size(); ++now) {
    const auto task = static_cast<size_t>(turns[now].task);
    if (now - last[task] > LongestWait(crowd.tasks)) {
      return fmt::format("task {} waited for {} decisions", task,
                         now - last[task]);
    }
    last[task] = now;
    ++taken[task];
  }
  for (const int count : taken) {
    if (count != crowd.turns) return "a task took another's turn";
  }
  return "";
}

TEST(SchedulerProperty, EveryRunnableTaskRunsWithinABound) {
  CheckProperty<Crowd>({.name = "scheduler_fairness",
                        .any = AnyCrowd(),
                        .to_text = ToText,
                        .from_text = FromText,
                        .wrong = Starved});
}

// While any task can run, time advances only by the cost of a decision. It
// jumps to a timer only when no task can run.
std::string JumpedEarly(const Crowd& crowd) {
  Time woke;
  const std::vector<Turn> turns = TurnsOf(crowd, &woke);
  const Duration cost = SchedulerOptions().step_cost;
  // Between two turns there may be decisions that resume the spawning task.
  const Duration most = cost * (crowd.tasks + 4);
  for (size_t i = 1; i < turns.size(); ++i) {
    const Duration passed = turns[i].time - turns[i - 1].time;
    if (passed < cost || passed > most) {
      return fmt::format("turn {} came {} ns after the one before", i,
                         passed.count());
    }
  }
  const Duration slept = woke - turns.back().time;
  const Duration nap = std::chrono::seconds(5);
  if (slept < nap || slept > nap + most) {
    return fmt::format("a sleep of 5 s took {} ns", slept.count());
  }
  return "";
}

TEST(SchedulerProperty, TimeJumpsOnlyWhenNothingCanRun) {
  CheckProperty<Crowd>({.name = "scheduler_time",
                        .any = AnyCrowd(),
                        .to_text = ToText,
                        .from_text = FromText,
                        .wrong = JumpedEarly});
}

std::string Differed(const Crowd& crowd) {
  return TurnsOf(crowd) == TurnsOf(crowd) ? "" : "one seed, two orders";
}

TEST(SchedulerProperty, EqualSeedsGiveEqualOrders) {
  CheckProperty<Crowd>({.name = "scheduler_order",
                        .any = AnyCrowd(),
                        .to_text = ToText,
                        .from_text = FromText,
                        .wrong = Differed});
}

// A few hundred seeds produce all 6 orders of three tasks of one turn, and
// nearly all of the 90 orders of three tasks of two turns.
TEST(SchedulerProperty, SeedsReachAllInterleavings) {
  const auto orders = [](int turns, uint64_t seeds) {
    std::set<std::vector<int>> found;
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      std::vector<int> order;
      for (const Turn& turn :
           TurnsOf({.tasks = 3, .turns = turns, .seed = seed})) {
        order.push_back(turn.task);
      }
      found.insert(order);
    }
    return found.size();
  };
  EXPECT_EQ(orders(1, 300), 6u);
  EXPECT_EQ(orders(2, 6000), 90u);
}

}  // namespace
}  // namespace gauntlet
