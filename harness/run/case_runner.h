// Runs one case: resolves its plan, runs the plan in a world, judges the
// record.
#ifndef GAUNTLET_HARNESS_RUN_CASE_RUNNER_H_
#define GAUNTLET_HARNESS_RUN_CASE_RUNNER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/result/result.h"
#include "harness/run/executor/run_plan.h"
#include "harness/run/reference.h"
#include "harness/scenario/requirements.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns the plan of the case for an executor. An executor of real processes
// replaces the directories and files in it.
RunPlan PlanOf(const Case& one);

// Maximum number of searches, in one run of scenarios, for the first difference
// of a failed case from its reference run. Each search runs the case again.
inline constexpr int kMostExplained = 20;

// First difference of a run's state from the reference run: a line of text,
// and the values.
struct Explanation {
  std::string cause;
  std::vector<StateDifference> differences;
  // True if the first difference was not searched for, because the limit on
  // searches (explain_most) was reached.
  bool is_left_out = false;
};

// One of the two runs of a case: the one that is in progress.
enum class CasePhase : uint8_t {
  kReference,  // the reference run: made once for each job, then cached
  kRun,        // the run that is judged
};

// Returns a sentence on what a slow case is doing in this phase: "it still
// runs".
std::string_view ActivityOf(CasePhase phase);

struct CasePlace {
  WorldKind world = WorldKind::kSimulated;
  std::string program;    // for real processes
  std::string directory;  // for this case's files; exists, absolute
  std::string replay;     // command that repeats the case; empty: run its file
  std::function<bool()> interrupted = [] { return false; };
  // Called when each phase of the case begins.
  std::function<void(CasePhase)> phase = [](CasePhase) {};
  // Explains a failed run; null: failed runs are not explained.
  std::function<Explanation(const Case&, const Record&, References&)> explain;
};

struct CaseOutcome {
  CaseResult result;
  std::string final_digest;  // digest of the final state; "" if there is none
  // Exit code of the last launcher; nullopt if no launcher ran.
  std::optional<int> exit_code = {};
  // True if the disk of the case's folder was full. The verdict then does not
  // count. Exception: a failed simulation, whose log is in memory.
  bool disk_full = false;
};

// Returns the result of a case before it has run: its name, its place in the
// file, and the command that repeats it. If `place` has no command, the
// result's command runs the case from its file.
CaseResult ResultBeforeRun(const Case& one, const CasePlace& place);

// Runs the case and judges the result; in the simulated world, runs it twice
// and compares the runs. Writes record.jsonl into the directory, and also
// scenario.yaml if a scenario can express the case. Keeps checkpoints and logs
// unless the verdict is a pass.
CaseOutcome RunCase(const Case& one, const CasePlace& place,
                    const Capabilities& here, References& references);

// Sets the differences, cause, consequences and summary of a failed case, from
// the explanation and the record. If the explanation was left out
// (is_left_out), the advice names the command that searches for the first
// difference.
//
// REQUIRES: result.verdict is the verdict on the record.
void ExplainCase(const Record& record, Explanation explanation,
                 CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_CASE_RUNNER_H_
