// Makes a plan that breaks something as small and as plain as it can be while
// the same thing breaks.
//
// First the fewest faults (delta debugging: Zeller and Hildebrandt, Simplifying
// and Isolating Failure-Inducing Input, 2002), then for each that is left the
// simplest kind, place and parameters. Each candidate is tried; what does not
// break the same thing is dropped. Without the limit of time, equal input gives
// an equal result.
#ifndef GAUNTLET_HARNESS_EXPLORE_SHRINK_H_
#define GAUNTLET_HARNESS_EXPLORE_SHRINK_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/world/clock.h"
#include "harness/explore/laboratory.h"

namespace gauntlet {

// One thing that a trial breaks.
struct Breach {
  std::string invariant;  // "trajectory"
  std::string name;       // of the finding: "step-digest"

  auto operator<=>(const Breach&) const = default;
};

// The trial's first; nullopt if it held.
std::optional<Breach> BreachOf(const Trial& trial);
// All that it breaks, each once, in the order of its findings.
std::vector<Breach> BreachesOf(const std::vector<Finding>& wrong);
// Whether it is among what the trial breaks.
bool Breaks(const Trial& trial, const Breach& breach);

struct ShrinkOptions {
  int max_tries = 1000;
  // Of real time, by the clock; without one there is no limit.
  Duration budget = std::chrono::seconds(10);
  const Clock* clock = nullptr;
  // Asked before each try: whether what is found so far has to do.
  std::function<bool()> stop = [] { return false; };
  // What is to stay broken; nullopt: the trial's first.
  std::optional<Breach> breach = {};

  // By the clock; without one it stands still.
  Time Now() const { return clock == nullptr ? Time{} : clock->Now(); }
  // Whether what began then has to do with the tries that it has made.
  bool MustEnd(Time begin, int tries) const;
  // With what is left of the budget of what began then.
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
  Trial trial;  // of that plan
  int tries = 0;
  bool finished = true;
};

// As above, by trials: the plan breaks options.breach to the end.
// REQUIRES: `trial` is the plan's and breaks that.
Shrunk Shrink(Laboratory& laboratory, const FaultPlan& plan, const Trial& trial,
              const ShrinkOptions& options = {});

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_SHRINK_H_
