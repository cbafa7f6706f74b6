// Runs one case: resolves its plan, runs the plan in a world, judges the
// record.
#ifndef GAUNTLET_HARNESS_RUN_CASE_RUNNER_H_
#define GAUNTLET_HARNESS_RUN_CASE_RUNNER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/result/result.h"
#include "harness/run/executor/run_plan.h"
#include "harness/run/reference.h"
#include "harness/scenario/requirements.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns the plan that an executor runs for the case. The executor chooses the
// checkpoint directory.
RunPlan PlanOf(const Case& one);

// Maximum number of failed cases of a run whose first differences are searched
// for. Each search runs the case again.
inline constexpr int kMostExplained = 20;

// First difference of a run's state from the reference run: a line of text,
// and the values.
struct Explanation {
  std::string cause;
  std::vector<StateDifference> differences;
  // True if there is a difference, but it was not searched for, as enough other
  // cases were explained.
  bool is_left_out = false;
};

// The run of a case that is in progress.
enum class CasePhase : uint8_t {
  kReference,  // the reference run: made once for each job, then cached
  kRun,        // the run that is judged
};

// Returns what a slow case in this phase does, as a sentence: "it still runs".
std::string_view ActivityOf(CasePhase phase);

struct CasePlace {
  WorldKind world = WorldKind::kSimulated;
  std::string program;    // for real processes
  std::string directory;  // for this case's files; exists, absolute
  std::string replay;     // the command that repeats it; empty: by its file
  std::function<bool()> interrupted = [] { return false; };
  // Called as a run of the case begins.
  std::function<void(CasePhase)> phase = [](CasePhase) {};
  // Explains a failed run; null: failed runs are not explained.
  std::function<Explanation(const Case&, const Record&, References&)> explain;
};

struct CaseOutcome {
  CaseResult result;
  std::string final_digest;  // digest of the final state; "" if there is none
  // The disk of the case's folder was full. The case then has no verdict,
  // unless a simulated run failed, whose log is in memory.
  bool disk_full = false;
};

// Returns the result of a case before it has run: its name, its place in the
// file, and the command that repeats it (by its file if `place` has no
// command).
CaseResult ResultBeforeRun(const Case& one, const CasePlace& place);

// Runs the case (in the simulated world twice, to compare the runs) and judges
// the result. Writes record.jsonl into the directory and, if a scenario can
// express the case, scenario.yaml. Keeps checkpoints and logs unless the
// verdict is a pass.
CaseOutcome RunCase(const Case& one, const CasePlace& place,
                    const Capabilities& here, References& references);

// Sets the differences, cause, consequences and summary of a failed case, from
// the explanation and the record (ExplainFailure). If the explanation was left
// out, the advice names the command that finds it.
//
// REQUIRES: result.verdict is the verdict on the record.
void ExplainCase(const Record& record, Explanation explanation,
                 CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_CASE_RUNNER_H_
