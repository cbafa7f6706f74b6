// One case of an exploration: a set-up and a fault plan for it.
#ifndef GAUNTLET_HARNESS_EXPLORE_TRIAL_EXPLORE_CASE_H_
#define GAUNTLET_HARNESS_EXPLORE_TRIAL_EXPLORE_CASE_H_

#include <algorithm>
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
  size_t setup = 0;     // index in SetupsOf(base)
  FaultPlan plan;
  // True if this shard counts the case. A shard also runs cases of other
  // shards, if its own later cases depend on their results.
  bool counts = true;
};

// Lowers the number of workers to `workers`. Also lowers min_workers and
// workers_per_attempt, so that none of them is larger.
void SetWorkers(int workers, ClusterSetup& cluster);

// Returns the base without its faults, then variations of it.
//
// Variations that train the base's trajectory come first:
// - another number of kept checkpoints, or of workers
// - checkpoints are deleted at the end
// - workers are on separate hosts, where stale workers occur
// - workers rejoin, and the job may scale down
//
// The others follow, unless the base has non-finite values, launches or a warm
// start:
// - another job
// - saves at the ends of epochs
// - a grace period in which training continues
// - few restarts, so that faults use them up
// - launches that differ: one stops at a step, each is longer than the one
//   before, or one has a changed job, which is refused
// - no checkpoint directory
// - event files and an exported model
//
// All set-ups have limits so short that a hang is detected long before the
// run's own limit. All but that with few restarts have enough restarts for many
// faults. OverridesOf lists these settings.
std::vector<Case> SetupsOf(const Case& base);

// Returns the difference between the set-up and the base, in the settings that
// SetupsOf varies: "as it is", "2 workers", "keep 1", "job with sgd" …
std::string DescribeSetup(const Case& setup, const Case& base);

// Returns the limits that every set-up has instead of those of the base, each
// with the new and the old value: "restart max 20 instead of 0".
std::vector<std::string> OverridesOf(const Case& base);

// Space from which the faults of a plan are taken.
struct PlanSpace {
  int workers = 1;
  HostsChoice hosts = HostsChoice::kOne;
  AtSuccess at_success = AtSuccess::kSaveFinalState;
  uint64_t steps = 1;   // steps of the horizon
  uint64_t epochs = 1;  // epochs of the horizon
  int max_faults = 3;
  std::vector<FaultKind> kinds;  // in ascending order, at least one
  std::vector<Point> points;     // in ascending order, at least one
  // Points that the set-up reaches without faults; null: not known.
  std::shared_ptr<const Reach> reach;

  bool Has(FaultKind kind) const {
    return std::ranges::find(kinds, kind) != kinds.end();
  }
  bool Has(Point point) const {
    return std::ranges::find(points, point) != points.end();
  }
};

// Returns true iff the set-up can suffer the fault: device faults require a
// device, and faults that separate workers require two.
bool CanHappenTo(FaultKind kind, const Case& setup);

// Returns every kind and every point. Kinds and points of a device are included
// only if the set-up has a device. The caller sets `max_faults`.
PlanSpace SpaceOf(const Case& setup);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_TRIAL_EXPLORE_CASE_H_
