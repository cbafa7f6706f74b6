// Runs fault plans on one case, in the simulated world.
//
// A generated plan states no expected outcome: the run need not reach all
// planned faults, and the expected end depends on the faults that it reached. A
// run is therefore judged by the invariants of all runs, and by the end that
// the fired faults require (the budget in chaos/inject/plan/plan.h): the
// reference's state, or a refusal if silent damage has destroyed every copy.
#ifndef GAUNTLET_HARNESS_EXPLORE_TRIAL_PLAN_RUNNER_H_
#define GAUNTLET_HARNESS_EXPLORE_TRIAL_PLAN_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/sim/scheduler/fiber.h"
#include "engine/data/dataset.h"
#include "harness/record/golden.h"
#include "harness/record/record.h"
#include "harness/record/verdict.h"
#include "harness/run/executor/sim_run.h"
#include "harness/run/reference.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// A run of a plan, and its result.
struct PlanRun {
  Record record;  // has only the faults that fired; plan_json is ""
  Verdict verdict;
  uint64_t event_digest = 0;
  // Findings that count; empty: the run passed. These are findings of the
  // judge, and kFinalState and kNoLauncher, which only explorations check.
  std::vector<Finding> findings;
  // Reason why this world cannot run the plan, in which case `findings` is
  // empty; "" if the plan was run.
  std::string skipped = {};
  // The run was aborted (PlanRunner::CutBy), so nothing is known of it.
  bool cut = false;
};

// Returns true iff the final state differs from that of the reference run, and
// a refusal was not the expected outcome.
bool EndsElsewhere(const Record& record);

// Returns true iff no launcher of the run ended by itself: none was started, or
// the run hung or timed out before its only launcher ended.
bool LauncherNeverEnded(const Record& record);

class PlanRunner {
 public:
  // Takes the base's job, cluster, checkpoints and planted bugs, but not its
  // faults. Makes the reference run. Returns an error if that run cannot be
  // made.
  static Result<PlanRunner> Make(Case base, References& references);

  // Runs the plan, with cached results of earlier runs
  // (engine/train/loop/train_memo.h). The plan's own bugs, if any, are planted
  // in addition to the base's. REQUIRES: Validate(plan).ok().
  PlanRun Try(const FaultPlan& plan);

  // `cut` returns true once a run in progress must be aborted, and stays true.
  // It is called on the thread of Try.
  void CutBy(std::function<bool()> cut) { cut_ = std::move(cut); }

  // Returns the base with the plan in it.
  Case CaseOf(const FaultPlan& plan) const;

  const Case& base() const { return base_; }
  const GoldenTrajectory& golden() const { return *golden_; }

 private:
  PlanRunner(Case base, std::shared_ptr<const DataSplit> data,
             std::shared_ptr<const GoldenTrajectory> golden);

  Case base_;
  std::shared_ptr<const DataSplit> data_;
  std::shared_ptr<const GoldenTrajectory> golden_;
  std::unique_ptr<FiberPool> pool_;
  std::unique_ptr<RunMemo> memo_;
  std::function<bool()> cut_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_TRIAL_PLAN_RUNNER_H_
