// The difference between two runs of the same scenarios: before and after a
// change.
#ifndef GAUNTLET_REPORTS_CI_RUN_COMPARISON_H_
#define GAUNTLET_REPORTS_CI_RUN_COMPARISON_H_

#include <string>
#include <vector>

#include "harness/record/result/result.h"
#include "reports/terminal.h"

namespace gauntlet {

// A case in two runs; null: the run does not have it.
struct ComparedCase {
  const CaseResult* before = nullptr;
  const CaseResult* after = nullptr;
};

// Cases are the same if name and world are. A case fails if its verdict is
// FAIL or INCONCLUSIVE; a flaky case has the verdict that its run gave it. Each
// list is in the order of the run that has the case.
struct RunComparison {
  const RunResult& before;
  const RunResult& after;
  std::vector<ComparedCase> newly_failing;  // new cases that fail, too
  std::vector<ComparedCase> newly_passing;
  std::vector<ComparedCase> newly_skipped;
  std::vector<ComparedCase> newly_not_run;  // new cases too
  std::vector<ComparedCase> added;          // only in `after`
  std::vector<ComparedCase> removed;        // only in `before`
  // By more than 20 % and more than 0.1 s, of cases that ran both times.
  std::vector<ComparedCase> slower;
};

// Points into both results.
RunComparison CompareRuns(const RunResult& before, const RunResult& after);

std::string RenderComparison(const RunComparison& comparison, Colour colour);

// One JSON object, schema gauntlet.comparison/v1:
// {"schema":…,"before":{"run":…,"build":…,"cases":20},"after":…,
//  "newly_failing":[{"name":…,"world":…,
//    "before":{"verdict":"PASS","flaky":false,"seconds":1.9,"cause":""},
//    "after":…}],
//  "newly_passing":[],"newly_skipped":[],"newly_not_run":[],"added":[],"removed":[],"slower":[]}
std::string ComparisonToJson(const RunComparison& comparison);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CI_RUN_COMPARISON_H_
