#include "harness/explore/diagnosis/shrink_setup.h"

#include <utility>

#include "harness/explore/trial/explore_case.h"
#include "harness/scenario/writer/write_scenario.h"

namespace gauntlet {
namespace {

class SetupShrinker {
 public:
  SetupShrinker(const Case& setup, const FaultPlan& plan,
                References& references, const ShrinkOptions& options)
      : plan_(plan),
        options_(options),
        references_(references),
        begin_(options.Now()) {
    result_.setup = setup;
    expressible_ = IsExpressible(setup);
  }

  ShrunkSetup Run() {
    Lower(1, static_cast<uint64_t>(result_.setup.cluster.workers),
          [](Case& one, uint64_t workers) {
            SetWorkers(static_cast<int>(workers), one.cluster);
          });
    // With launches, the job's horizon stays as it is, because each launch may
    // have a horizon of its own.
    if (result_.setup.launches.empty()) LowerHorizon();
    return std::move(result_);
  }

 private:
  void LowerHorizon() {
    Lower(
        1, result_.setup.train.horizon.epochs,
        [](Case& one, uint64_t epochs) { one.train.horizon.epochs = epochs; });
    const EpochShape epoch = ShapeOfEpoch(result_.setup.train.job);
    const Horizon& horizon = result_.setup.train.horizon;
    const uint64_t steps =
        horizon.max_steps.value_or(epoch.steps * horizon.epochs);
    Lower(1, steps,
          [](Case& one, uint64_t most) { one.train.horizon.max_steps = most; });
  }

  // Searches by bisection for the least number in [low, high) with which the
  // plan still shows the violation. It may miss the least one: the violation
  // may be absent with one number and present with a smaller one.
  template <typename Set>
  void Lower(uint64_t low, uint64_t high, const Set& set) {
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      Case candidate = result_.setup;
      set(candidate, middle);
      if (Try(candidate)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
  }

  bool IsExpressible(Case setup) const {
    setup.plan.faults = plan_.faults;
    return WriteScenario(setup, {}).ok();
  }

  bool Try(const Case& candidate) {
    if (options_.MustEnd(begin_, result_.tries)) {
      result_.finished = false;
      return false;
    }
    ++result_.tries;
    Result<PlanRunner> runner = PlanRunner::Make(candidate, references_);
    if (!runner.ok()) {
      // An interruption may have ended the candidate's reference run.
      if (options_.stop()) result_.finished = false;
      return false;
    }
    PlanRun run = runner->Try(plan_);
    if (!Breaks(run, *options_.violation)) return false;
    if (expressible_ && !IsExpressible(candidate)) return false;
    result_.setup = candidate;
    result_.run = std::move(run);
    return true;
  }

  const FaultPlan& plan_;
  const ShrinkOptions& options_;
  References& references_;
  const Time begin_;
  bool expressible_ = false;  // a scenario can express the original set-up
  ShrunkSetup result_;
};

}  // namespace

ShrunkSetup ShrinkSetup(const Case& setup, const FaultPlan& plan,
                        References& references, const ShrinkOptions& options) {
  CHECK(options.violation.has_value(), "there is nothing to shrink around");
  return SetupShrinker(setup, plan, references, options).Run();
}

}  // namespace gauntlet
