// Compares two runs of the same scenarios, such as before and after a change.
#ifndef GAUNTLET_REPORTS_CI_RUN_COMPARISON_H_
#define GAUNTLET_REPORTS_CI_RUN_COMPARISON_H_

#include <string>
#include <vector>

#include "harness/record/result/result.h"
#include "reports/terminal.h"

namespace gauntlet {

// A case in two runs; null: the case is not in the run.
struct ComparedCase {
  const CaseResult* before = nullptr;
  const CaseResult* after = nullptr;
};

// Cases match if their names and worlds are equal. A case fails if its verdict
// is FAIL or INCONCLUSIVE; a flaky case counts by its verdict alone. The cases
// of each list are in the order of `after`, those of `removed` in the order of
// `before`.
struct RunComparison {
  const RunResult& before;
  const RunResult& after;
  std::vector<ComparedCase> newly_failing;
  std::vector<ComparedCase> newly_passing;
  std::vector<ComparedCase> newly_skipped;
  std::vector<ComparedCase> newly_not_run;
  std::vector<ComparedCase> added;    // only in `after`, and in no other list
  std::vector<ComparedCase> removed;  // only in `before`
  // Slower by more than 20 % and more than 0.1 s; only cases that ran in both
  // runs.
  std::vector<ComparedCase> slower;
};

// The result points into `before` and `after`.
RunComparison CompareRuns(const RunResult& before, const RunResult& after);

// Returns true iff some case is worse in `after`: it newly fails, it is newly
// not run, or it is new and either fails or is not run.
bool IsWorse(const RunComparison& comparison);

std::string RenderComparison(const RunComparison& comparison, Colour colour);

// Returns one JSON object of schema gauntlet.comparison/v1:
// {"schema":…,"before":{"run":…,"build":…,"cases":20},"after":…,
//  "newly_failing":[{"name":…,"world":…,
//    "before":{"verdict":"PASS","flaky":false,"seconds":1.9,"cause":""},
//    "after":…}],
//  "newly_passing":[],"newly_skipped":[],"newly_not_run":[],"added":[],"removed":[],"slower":[]}
std::string ComparisonToJson(const RunComparison& comparison);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CI_RUN_COMPARISON_H_
