// Recovery, over many set-ups: any valid job completes without faults. Under
// random plans it ends with the reference's bits, or refuses where it has to.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "harness/explore/plan/random_plan.h"
#include "harness/explore/trial/explore_case.h"
#include "harness/explore/trial/plan_runner.h"
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

// Returns true in `some` of 100 draws, and false in a shrunk set-up.
bool InSomeOf100(int some) { return *rc::gen::inRange(0, 100) >= 100 - some; }

// Keys of `cluster`: the smallest permitted number of workers, or the number of
// workers in each attempt.
struct Membership {
  std::string keys;
  bool per_attempt = false;  // then all workers start together
};

Membership AnyMembership(int workers) {
  if (workers == 1) return {};
  if (InSomeOf100(35)) {
    return {.keys = fmt::format(", min_workers: {}",
                                *rc::gen::inRange(1, workers + 1))};
  }
  if (!InSomeOf100(25)) return {};
  const auto incarnations = *rc::gen::container<std::vector<int>>(
      *rc::gen::inRange<size_t>(1, 4), rc::gen::inRange(1, workers + 1));
  return {.keys = fmt::format(", workers_per_attempt: [{}]",
                              fmt::join(incarnations, ", ")),
          .per_attempt = true};
}

std::string AnyCluster() {
  const int workers = *rc::gen::inRange(1, 7);
  const Membership membership = AnyMembership(workers);
  const bool rejoins = !membership.per_attempt && InSomeOf100(30);
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

std::string AnyOptimizer() {
  return OneOf(
      "{}", "{name: sgd, lr: 0.05, momentum: 0.9}",
      "{name: sgd, lr: 0.05, schedule: {kind: piecewise, warmup: 3, "
      "boundaries: [4, 9], values: [0.05, 0.02, 0.01]}, "
      "clip: {by: global_norm, limit: 1}}",
      "{name: adam, lr: 0.002, schedule: {kind: cosine_decay, warmup: 2, "
      "steps: 16, alpha: 0.1}, clip: {by: value, limit: 0.05}}",
      "{schedule: {kind: exponential_decay, steps: 3, rate: 0.5, "
      "staircase: true}, clip: {by: norm, limit: 0.5}}");
}

std::string AnyData() {
  return fmt::format("{{samples: {}, shuffle: {}{}{}}}",
                     OneOf("384", "394", "192"), OneOf("\"on\"", "\"off\""),
                     InSomeOf100(25) ? ", steps_per_epoch: 1" : "",
                     InSomeOf100(25) ? ", validation_steps: 1" : "");
}

// Returns keys of `job` that change the training.
std::string AnyJob() {
  std::string keys;
  const auto add = [&keys](int some_of_100, const auto& key) {
    if (InSomeOf100(some_of_100)) keys += ", " + std::string(key());
  };
  add(30, [] { return "optimizer: " + AnyOptimizer(); });
  add(30, [] { return "data: " + AnyData(); });
  add(20, [] { return OneOf("accumulate: 2", "accumulate: 3"); });
  add(20, [] { return OneOf("remainder: keep", "remainder: drop"); });
  add(20, [] { return OneOf("batch: 8", "batch: 16", "batch: 3"); });
  add(20,
      [] { return OneOf("steps_per_execution: 2", "steps_per_execution: 5"); });
  add(20, [] {
    return "layers: [{kind: conv2d, filters: 2, kernel: 3}, {kind: relu}, "
           "{kind: center, momentum: 0.9}, {kind: flatten}, {kind: gelu}, "
           "{kind: dropout, rate: 0.25}, {kind: dense, units: 10}]";
  });
  return keys;
}

std::string AnyOutputs() {
  if (!InSomeOf100(40)) return "{}";
  return OneOf("{curves_every: 1}", "{export: true}",
               "{curves_every: 1, export: true}",
               "{curves_every: 3, export: true}");
}

// Returns the settings of each start of the launcher; "" if they do not differ.
// Some settings do not fit every job, which may be too short, for example.
// IsOfItsLaunches recognizes such set-ups, and they are skipped.
std::string AnyLaunches() {
  if (!InSomeOf100(25)) return "";
  return "launches: " +
         OneOf("[{stop_at_step: 3}, {}]",
               "[{stop_at_step: 2}, "
               "{stop_at_step: 5}, {}]",
               "[{max_steps: 2}, {}]", "[{max_steps: 2}, {max_steps: 5}, {}]",
               "[{stop_at_step: 3}, {lr: 0.5}, {}]",
               "[{stop_at_step: 3}, {batch: 5}, {}]") +
         "\n";
}

std::string AnyCheckpoint() {
  if (InSomeOf100(12)) return "{directory: none}";
  return fmt::format(
      "{{every: {{{}}}, keep: {}{}{}{}}}",
      OneOf("steps: 5", "steps: 1", "steps: 3", "steps: 7", "epochs: 1"),
      *rc::gen::element(2, 1, 3, 5),
      OneOf("", "", "", ", mode: async", ", mode: zero-copy"),
      InSomeOf100(35) ? ", on_success: delete" : "",
      InSomeOf100(15) ? ", allow_cold_start: true" : "");
}

// Returns a scenario without faults. The random plans for it are drawn from its
// seed.
std::string AnySetup() {
  const std::string job = fmt::format(
      "{{epochs: {}, replicas: 12{}{}}}", *rc::gen::inRange(1, 5),
      InSomeOf100(20) ? fmt::format(", max_steps: {}", *rc::gen::inRange(1, 20))
                      : "",
      AnyJob());
  const std::string cluster = AnyCluster();
  const std::string checkpoint = AnyCheckpoint();
  return fmt::format(
      "schema: gauntlet/v2\nname: setup\npreset: tiny\nseed: {}\n"
      "timeout: {{total: 20m}}\njob: {}\ncluster: {}\ncheckpoint: {}\n"
      "outputs: {}\ndisk: {{profile: {}}}\n"
      "preemption: {{poll_every: {}{}}}\n{}"
      "expect: {{outcome: completes}}\n",
      *rc::gen::inRange<uint64_t>(1, 10'000), job, cluster, checkpoint,
      AnyOutputs(), OneOf("ext4", "weak", "lying-fsync", "shared"),
      OneOf("10ms", "100ms"), InSomeOf100(25) ? ", grace: 500ms" : "",
      AnyLaunches());
}

// Returns true iff the only errors of a set-up are launches that do not fit its
// job.
bool IsOfItsLaunches(const LoadedFile& loaded) {
  return std::ranges::all_of(loaded.errors, [](const Diagnostic& error) {
    return error.message.find("less than the job has") != std::string::npos ||
           error.message.find("as an earlier launch has") !=
               std::string::npos ||
           error.message.find("changed job") != std::string::npos ||
           error.message.find("another value than the job's") !=
               std::string::npos;
  });
}

struct Tried {
  size_t setups = 0;
  size_t plans = 0;
  size_t fired = 0;  // plans with a fault that fired
};

// Returns the error in the set-up or in one of its plans; "" if all passed. The
// last plan runs twice, and both runs must have the same events.
std::string WrongWith(const std::string& text, Tried& tried) {
  const LoadedFile loaded = LoadScenarios(text, "setup.yaml");
  if (!loaded.errors.empty()) {
    const std::string why = RenderErrors(loaded, "setup.yaml", text);
    return IsOfItsLaunches(loaded) ? "" : why;
  }
  const Case setup = SetupsOf(loaded.cases.at(0)).front();
  static References references("", "test");
  Result<PlanRunner> runner = PlanRunner::Make(setup, references);
  if (!runner.ok()) return runner.status().message();
  ++tried.setups;
  PlanSpace space = SpaceOf(setup);
  for (uint64_t number = 0; number <= kPlansOfASetup; ++number) {
    // The first plan has no faults. Its seed still gives another order of
    // events than the set-up's seed.
    space.max_faults = static_cast<int>(std::min<uint64_t>(number, 4));
    const FaultPlan plan = RandomPlan(space, setup.seed, number);
    const PlanRun run = runner->Try(plan);
    ++tried.plans;
    if (!run.record.faults.empty()) ++tried.fired;
    const bool differs = number == kPlansOfASetup &&
                         runner->Try(plan).event_digest != run.event_digest;
    if (run.findings.empty() && !differs) continue;
    std::string wrong = text + PlanToJson(plan);
    if (differs) wrong += "\nit goes another way when it is run again";
    for (const Finding& finding : run.findings) {
      wrong += fmt::format("\n{}: {}", finding.invariant, finding.message);
    }
    return wrong;
  }
  return "";
}

TEST(SetupProperty, EveryPlanOnEverySetupHolds) {
  // Fewer cases, as each has its own reference run and many plans.
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
  fmt::print("{} plans on {} set-ups, {} of them with a fault that fired\n",
             tried.plans, tried.setups, tried.fired);
  EXPECT_GT(tried.fired, tried.plans / 3);
}

}  // namespace
}  // namespace gauntlet
