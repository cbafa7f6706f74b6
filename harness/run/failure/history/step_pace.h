// The pace of a run that used up its time while it still trained.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_STEP_PACE_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_STEP_PACE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/oracle/history/outline.h"

namespace gauntlet {

struct StepPace {
  uint64_t steps = 0;      // of the whole training
  uint64_t reached = 0;    // last step of the run
  int64_t reached_ns = 0;  // time from the start of the run to that step
  int64_t step_ns = 0;     // duration of that step

  // Time that the whole run needs if each remaining step takes step_ns.
  int64_t NeededNs() const;
};

// Returns the pace of a run that timed out (timeout.total) although its steps
// went on until then, if the remaining steps do not fit into the limit. Returns
// nullopt for other runs, and if a fault delayed steps.
std::optional<StepPace> PaceOfTimedOutRun(const Outline& outline);

// Returns "24 steps of 3.002 s each do not fit into timeout.total (40s)". If
// all steps would fit, but the run had lost time before, returns "step 10 of 24
// was reached; the other 14 steps of 3.002 s each …".
std::string PaceText(const StepPace& pace, int64_t limit_ns);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_STEP_PACE_H_
