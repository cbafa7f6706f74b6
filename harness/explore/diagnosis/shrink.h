// Makes a plan that breaks something as small and as plain as it can be while
// the same thing breaks.
//
// First the fewest faults (delta debugging: Zeller and Hildebrandt, Simplifying
// and Isolating Failure-Inducing Input, 2002), then for each that is left the
// simplest kind, place and parameters. Each candidate is tried; what does not
// break the same thing is dropped. Without the limit of time, equal input gives
// an equal result.
#ifndef GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_H_
#define GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/world/clock.h"
#include "harness/explore/trial/plan_runner.h"

namespace gauntlet {

// One thing that a trial breaks.
struct Violation {
  std::string invariant;  // "trajectory"
  std::string name;       // name of the finding: "step-digest"

  auto operator<=>(const Violation&) const = default;
};

// The trial's first; nullopt if it held.
std::optional<Violation> ViolationOf(const PlanRun& trial);
// Returns all breaches, each once, in the order of the findings.
std::vector<Violation> BreachesOf(const std::vector<Finding>& wrong);
// Returns true iff the trial shows this breach.
bool Breaks(const PlanRun& trial, const Violation& breach);

struct ShrinkOptions {
  int max_tries = 1000;
  // Limit of real time, by `clock`; without a clock there is no limit.
  Duration budget = std::chrono::seconds(10);
  const Clock* clock = nullptr;
  // Asked before each try: true ends the search with the smallest plan so far.
  std::function<bool()> stop = [] { return false; };
  // Violation that the plan has to keep; nullopt: the trial's first.
  std::optional<Violation> breach = {};

  // Time by `clock`; constant without one.
  Time Now() const { return clock == nullptr ? Time{} : clock->Now(); }
  // Returns true iff a search that began then has to end after so many tries.
  bool MustEnd(Time begin, int tries) const;
  // Returns these options with the rest of the budget of a search that began
  // then.
  ShrinkOptions After(Time begin) const;
};

struct ShrunkPlan {
  FaultPlan plan;
  int tries = 0;
  bool finished = true;  // no limit was met: nothing simpler breaks it
};

// The smallest that `still_breaks`; it is asked about valid plans only, and
// about none twice. REQUIRES: Validate(plan).ok().
ShrunkPlan ShrinkPlan(
    const FaultPlan& plan, const ShrinkOptions& options,
    const std::function<bool(const FaultPlan&)>& still_breaks);

struct Shrunk {
  FaultPlan plan;
  PlanRun trial;  // run of that plan
  int tries = 0;
  bool finished = true;
};

// As above, by trials: the plan breaks options.breach to the end.
// REQUIRES: `trial` is the plan's and breaks that.
Shrunk Shrink(PlanRunner& runner, const FaultPlan& plan, const PlanRun& trial,
              const ShrinkOptions& options = {});

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_H_
