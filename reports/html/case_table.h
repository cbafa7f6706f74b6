// The table of all cases of a run.
#ifndef GAUNTLET_REPORTS_HTML_CASE_TABLE_H_
#define GAUNTLET_REPORTS_HTML_CASE_TABLE_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "harness/record/result/result.h"

namespace gauntlet {

// Returns the indices of the cases: failed, flaky, inconclusive, passed,
// skipped, then not run; each group is in the order of the run.
std::vector<size_t> CasesByVerdict(const RunResult& result);

// Returns the id of a case's section in the page: "case-12".
std::string SectionId(size_t case_index);

struct CaseTable {
  std::string html;
  size_t left_out = 0;  // cases beyond the limit
};

// Renders the first rows as HTML. The page's script renders all rows from JSON:
// {"texts":[…],"rows":[[name,verdict,world,faults,restarts,recomputed steps,
// milliseconds,reason,section]]}
//   verdict: position in the order of CasesByVerdict, from 0 for failed
//   world, reason: indices into texts
//   restarts, recomputed steps: -1 for a crash test, which has none
//   section: index of the case; -1: the case has no section
// `sections`: indices of the cases with a section. `crash_tests`: indices of
// the crash tests. `most_bytes`: limit on the JSON.
CaseTable RenderCaseTable(const RunResult& result,
                          const std::set<size_t>& sections, size_t most_bytes,
                          const std::set<size_t>& crash_tests = {});

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_CASE_TABLE_H_
