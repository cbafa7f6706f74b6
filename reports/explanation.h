// The lines that explain a failed case, in the order in which they are read.
// Terminals, the page and the summary in Markdown print the same lines.
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

// Faults, cause, recovery, training, planted bugs; only those of which
// something is known.
std::vector<ExplanationLine> ExplanationOf(const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_EXPLANATION_H_
