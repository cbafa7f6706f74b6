// The lines that explain a failed case, in reading order. Terminals, the page
// and the Markdown summary print the same lines.
#ifndef GAUNTLET_REPORTS_EXPLANATION_H_
#define GAUNTLET_REPORTS_EXPLANATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/record/result/result.h"

namespace gauntlet {

struct ExplanationLine {
  std::string_view topic;  // "faults", "cause", "training"
  std::string text;
};

// Returns lines about faults, cause, recovery, training, advice and planted
// bugs, as far as known. If FailedOnlyExpectations(result), the unmet
// expectations are among the lines. The cause is always one of the first four
// lines, even if many expectations are unmet.
std::vector<ExplanationLine> ExplanationOf(const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_EXPLANATION_H_
