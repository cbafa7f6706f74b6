// From a case to its verdict: resolves the plan, runs it in a world, judges.
#ifndef GAUNTLET_HARNESS_RUN_CASE_RUNNER_H_
#define GAUNTLET_HARNESS_RUN_CASE_RUNNER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/record/result.h"
#include "harness/run/reference.h"
#include "harness/run/run_plan.h"
#include "harness/scenario/requirements.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// What an executor needs of the case. The checkpoint directory is the
// executor's to place.
RunPlan PlanOf(const Case& one);

// First difference of a run's state from the reference run: a line of text,
// and the values.
struct Explanation {
  std::string cause;
  std::vector<StateDifference> differences;
};

// The run of a case that goes on now.
enum class CasePhase : uint8_t {
  kReference,  // the undisturbed one, which is made once for each job
  kRun,        // the one that is judged
};

struct CasePlace {
  WorldKind world = WorldKind::kSimulated;
  std::string program;    // for real processes
  std::string directory;  // of this case's files; exists, absolute
  std::string replay;     // the command that repeats it; empty: by its file
  std::function<bool()> interrupted = [] { return false; };
  // Called as a run of the case begins.
  std::function<void(CasePhase)> phase = [](CasePhase) {};
  // Explains a run that failed; null: nobody looks.
  std::function<Explanation(const Case&, const Record&, References&)> explain;
};

struct CaseOutcome {
  CaseResult result;
  std::string final_digest;  // of the state that the run ended in; "": none
  // Its folder had no room. It has no verdict then, unless a simulated run has
  // failed, which the simulation keeps in memory.
  bool disk_full = false;
};

// Runs it (in the simulated world twice, to hold one against the other) and
// judges what came of it. Leaves record.jsonl in the directory and, where a
// scenario can say the case, scenario.yaml; the store and the logs only where
// the verdict is not a pass.
CaseOutcome RunCase(const Case& one, const CasePlace& place,
                    const Capabilities& here, References& references);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_CASE_RUNNER_H_
