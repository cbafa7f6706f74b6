// One case of an exploration: a set-up and a fault plan for it.
#ifndef GAUNTLET_HARNESS_EXPLORE_TRIAL_EXPLORE_CASE_H_
#define GAUNTLET_HARNESS_EXPLORE_TRIAL_EXPLORE_CASE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "harness/explore/trial/reach.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

struct ExploreCase {
  uint64_t number = 0;  // from 0 on, in the order of the exploration
  size_t setup = 0;     // which of SetupsOf(base)
  FaultPlan plan;
  // False: another shard counts the case. This shard runs it too, because later
  // cases depend on its result.
  bool counts = true;
};

// Fewer workers, and no bound of the membership above them.
void SetWorkers(int workers, ClusterSetup& cluster);

// The base without its faults, and what else it may be set up as. First without
// another trajectory: other numbers of workers and of kept checkpoints, a store
// that is deleted in the end, workers on hosts of their own, where late
// survivors are, and workers that rejoin and may become fewer. Then other jobs,
// saves that meet the ends of epochs, a grace in which training goes on, and
// launches that differ: one that stops at a step, each longer than the one
// before, and one with a changed job, which is refused; no checkpoint
// directory; curves and an export. Not for a base about values that are not
// finite or a warm start. All have short limits, so that a hang shows long
// before the run's own does, and restarts for many faults, also where the base
// has none: OverridesOf says which.
std::vector<Case> SetupsOf(const Case& base);

// How the set-up differs from the base in what SetupsOf varies: "as it is",
// "2 workers", "keep 1", "job with sgd" …
std::string DescribeSetup(const Case& setup, const Case& base);

// Returns the limits of every set-up that replace the base's own, each with
// both values: "restart max 20 for 0".
std::vector<std::string> OverridesOf(const Case& base);

// Space from which the faults of a plan are taken.
struct PlanSpace {
  int workers = 1;
  HostsChoice hosts = HostsChoice::kOne;
  AtSuccess at_success = AtSuccess::kKeepCheckpoints;
  uint64_t steps = 1;   // of the horizon
  uint64_t epochs = 1;  // likewise
  int max_faults = 3;
  std::vector<FaultKind> kinds;  // in ascending order, at least one
  std::vector<Point> points;     // likewise
  // Points that the set-up reaches without faults; null: not known.
  std::shared_ptr<const Reach> reach;
};

// Returns true iff the set-up can suffer the fault: device faults require a
// device, and faults that separate workers require two.
bool CanHappenTo(FaultKind kind, const Case& setup);

// Returns every kind and every point; those of a device only if the set-up has
// one. The caller sets `max_faults`.
PlanSpace SpaceOf(const Case& setup);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_TRIAL_EXPLORE_CASE_H_
