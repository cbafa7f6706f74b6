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

#include <functional>
#include <optional>
#include <string>

#include "engine/world/clock.h"
#include "harness/explore/laboratory.h"

namespace gauntlet {

// What a trial breaks: two trials with equal breaches have one cause, as far as
// shrinking can tell.
struct Breach {
  std::string invariant;  // "trajectory"
  std::string name;       // of the finding: "step-digest"

  bool operator==(const Breach&) const = default;
};

// The trial's first; nullopt if it held.
std::optional<Breach> BreachOf(const Trial& trial);
// Whether it is among what the trial breaks.
bool Breaks(const Trial& trial, const Breach& breach);

struct ShrinkOptions {
  int max_tries = 1000;
  Duration budget = std::chrono::seconds(10);  // of real time
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

// As above, by trials: the plan breaks BreachOf(trial) to the end.
// REQUIRES: `trial` is the plan's and broke something.
Shrunk Shrink(Laboratory& laboratory, const FaultPlan& plan, const Trial& trial,
              const ShrinkOptions& options = {});

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_SHRINK_H_
