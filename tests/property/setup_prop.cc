// Recovery, over many set-ups: whatever a job is set up as, it completes
// undisturbed, and whatever random plans do to it, it ends in the reference's
// bits, or refuses where that is due.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "harness/explore/explore_case.h"
#include "harness/explore/laboratory.h"
#include "harness/explore/random_plan.h"
#include "tests/property/property.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr uint64_t kPlansOfASetup = 60;

template <typename... Choices>
std::string OneOf(Choices... choices) {
  return *rc::gen::element(std::string(choices)...);
}

// True for so many of a hundred; a shrunk set-up has none of them.
bool InSomeOf100(int some) { return *rc::gen::inRange(0, 100) >= 100 - some; }

// How many are enough for a life, or how many each has: keys of `cluster`.
struct Membership {
  std::string keys;
  bool by_life = false;  // all start together then
};

Membership AnyMembership(int workers) {
  if (workers == 1) return {};
  if (InSomeOf100(35)) {
    return {.keys = fmt::format(", min_workers: {}",
                                *rc::gen::inRange(1, workers + 1))};
  }
  if (!InSomeOf100(25)) return {};
  const auto lives = *rc::gen::container<std::vector<int>>(
      *rc::gen::inRange<size_t>(1, 4), rc::gen::inRange(1, workers + 1));
  return {.keys = fmt::format(", workers_per_attempt: [{}]",
                              fmt::join(lives, ", ")),
          .by_life = true};
}

std::string AnyCluster() {
  const int workers = *rc::gen::inRange(1, 7);
  const Membership membership = AnyMembership(workers);
  const bool rejoins = !membership.by_life && InSomeOf100(30);
  return fmt::format(
      "{{workers: {}{}{}, heartbeat: {}, step_timeout: {}, save_timeout: {}, "
      "start_timeout: {}, restart: {{max: {}, backoff: {}{}}}}}",
      workers, membership.keys,
      InSomeOf100(35) ? ", topology: one_host_per_worker" : "",
      OneOf("{every: 200ms, lost_after: 1s}", "{every: 100ms, lost_after: 1s}",
            "{every: 500ms, lost_after: 3s}"),
      OneOf("3s", "6s"), OneOf("5s", "10s"), OneOf("30s", "20s"),
      *rc::gen::element(20, 40, 8), OneOf("50ms", "0ms", "500ms", "2s"),
      rejoins ? ", policy: rejoin" : "");
}

std::string AnyCheckpoint() {
  return fmt::format(
      "{{every: {{{}}}, keep: {}{}{}{}}}",
      OneOf("steps: 5", "steps: 1", "steps: 3", "steps: 7", "epochs: 1"),
      *rc::gen::element(2, 1, 3, 5), InSomeOf100(35) ? ", mode: async" : "",
      InSomeOf100(35) ? ", on_success: delete" : "",
      InSomeOf100(15) ? ", allow_cold_start: true" : "");
}

// A scenario without faults, with what random plans are drawn from by its seed.
std::string AnySetup() {
  const std::string job = fmt::format(
      "{{epochs: {}, replicas: 12{}}}", *rc::gen::inRange(1, 5),
      InSomeOf100(20) ? fmt::format(", max_steps: {}", *rc::gen::inRange(1, 20))
                      : "");
  const std::string cluster = AnyCluster();
  const std::string checkpoint = AnyCheckpoint();
  return fmt::format(
      "schema: gauntlet/v2\nname: setup\npreset: tiny\nseed: {}\n"
      "timeout: {{total: 20m}}\njob: {}\ncluster: {}\ncheckpoint: {}\n"
      "disk: {{profile: {}}}\npreemption: {{poll_every: {}}}\n"
      "expect: {{outcome: completes}}\n",
      *rc::gen::inRange<uint64_t>(1, 10'000), job, cluster, checkpoint,
      OneOf("ext4", "weak", "lying-fsync", "shared"), OneOf("10ms", "100ms"));
}

struct Tried {
  size_t plans = 0;
  size_t fired = 0;  // of them, with a fault that did
};

// What is wrong with any of its plans; "": all held.
std::string WrongWith(const std::string& text, Tried& tried) {
  const LoadedFile loaded = LoadScenarios(text, "setup.yaml");
  if (!loaded.errors.empty()) return RenderErrors(loaded, "setup.yaml", text);
  const Case setup = SetupsOf(loaded.cases.at(0)).front();
  static References references("", "test");
  Result<Laboratory> laboratory = Laboratory::Make(setup, references);
  if (!laboratory.ok()) return laboratory.status().message();
  PlanSpace space = SpaceOf(setup);
  for (uint64_t number = 0; number <= kPlansOfASetup; ++number) {
    // The first has none: another order of events all the same.
    space.max_faults = static_cast<int>(std::min<uint64_t>(number, 4));
    const FaultPlan plan = RandomPlan(space, setup.seed, number);
    const Trial trial = laboratory->Try(plan);
    ++tried.plans;
    if (!trial.record.faults.empty()) ++tried.fired;
    if (trial.wrong.empty()) continue;
    std::string wrong = text + PlanToJson(plan);
    for (const Finding& finding : trial.wrong) {
      wrong += fmt::format("\n{}: {}", finding.invariant, finding.message);
    }
    return wrong;
  }
  return "";
}

TEST(SetupProperty, EveryPlanOnEverySetupHolds) {
  // Each has its own reference run and many plans.
  setenv("RC_PARAMS", "max_success=150", /*overwrite=*/0);
  Tried tried;
  CheckProperty<std::string>(
      {.name = "setup",
       .any = rc::gen::exec(AnySetup),
       .to_text = [](const std::string& text) { return text; },
       .from_text =
           [](std::string_view text) { return Result(std::string(text)); },
       .wrong =
           [&](const std::string& text) { return WrongWith(text, tried); }});
  if (OnlyOneIsTried()) return;
  EXPECT_GT(tried.fired, tried.plans / 3);
}

}  // namespace
}  // namespace gauntlet
