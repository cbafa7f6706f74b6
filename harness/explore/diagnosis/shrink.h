// Shrinks a plan that shows a violation: makes it as small and simple as
// possible while it still shows the violation.
//
// The search first removes faults (delta debugging: Zeller and Hildebrandt,
// Simplifying and Isolating Failure-Inducing Input, 2002). Then it gives each
// remaining fault the simplest kind, place and parameters. Each candidate is
// run, and kept only if it shows the violation. Without a limit of time, equal
// input gives an equal result.
#ifndef GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_H_
#define GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/world/clock.h"
#include "harness/explore/trial/plan_runner.h"

namespace gauntlet {

// A violation that a run shows: the violated invariant, and the kind of
// violation.
struct Violation {
  std::string invariant;  // "trajectory"
  std::string name;       // name of the finding: "step-digest"

  auto operator<=>(const Violation&) const = default;
};

// Returns the run's first violation; nullopt if the run passed.
std::optional<Violation> ViolationOf(const PlanRun& run);
// Returns all violations, each once, in the order of the findings.
std::vector<Violation> ViolationsOf(const std::vector<Finding>& findings);
// Returns true iff the run shows this violation.
bool Breaks(const PlanRun& run, const Violation& violation);

struct ShrinkOptions {
  int max_tries = 1000;
  // Limit of real time, by `clock`; without a clock there is no limit.
  Duration budget = std::chrono::seconds(10);
  const Clock* clock = nullptr;
  // Called before each try. Returns true to end the search with the smallest
  // plan so far.
  std::function<bool()> stop = [] { return false; };
  // Violation that a smaller plan must still show; nullopt: the first violation
  // of the run.
  std::optional<Violation> violation = {};

  // Time by `clock`; constant without a clock.
  Time Now() const { return clock == nullptr ? Time{} : clock->Now(); }
  // Returns true iff a search that began at `begin` and has made `tries` tries
  // must end.
  bool MustEnd(Time begin, int tries) const;
  // Returns these options with the remaining budget of a search that began at
  // `begin`.
  ShrinkOptions After(Time begin) const;
};

// Returns the plan without the fault of this index. If other faults name the
// removed fault in `after`, they get the `after` of the removed fault.
// REQUIRES: index < plan.faults.size().
FaultPlan WithoutFault(FaultPlan plan, size_t index);

struct ShrunkPlan {
  FaultPlan plan;
  int tries = 0;
  bool finished = true;  // false: a limit ended the search early
};

// Returns the smallest plan found for which `still_breaks` is true.
// `still_breaks` is called with valid plans only, and never twice with the same
// plan. REQUIRES: Validate(plan).ok().
ShrunkPlan ShrinkPlan(
    const FaultPlan& plan, const ShrinkOptions& options,
    const std::function<bool(const FaultPlan&)>& still_breaks);

struct Shrunk {
  FaultPlan plan;
  PlanRun run;  // run of that plan
  int tries = 0;
  bool finished = true;
};

// As ShrinkPlan, where `still_breaks` runs the plan and returns true if the run
// shows options.violation. REQUIRES: `run` is a run of `plan` and shows the
// violation.
Shrunk Shrink(PlanRunner& runner, const FaultPlan& plan, const PlanRun& run,
              const ShrinkOptions& options = {});

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_H_
