#include "reports/explanation.h"

#include <utility>

#include "reports/failures.h"

namespace gauntlet {

std::vector<ExplanationLine> ExplanationOf(const CaseResult& result) {
  const FailureSummary& summary = result.summary;
  std::vector<ExplanationLine> lines = {{"faults", summary.faults},
                                        {"cause", result.cause},
                                        {"recovery", summary.recovery},
                                        {"training", summary.training}};
  for (const std::string& bug : result.planted_bugs) {
    lines.push_back({"planted", PlantedBugText(bug) +
                                    " (the scenario switches this bug on)"});
  }
  lines.push_back({"planted", summary.planted});
  std::erase_if(lines,
                [](const ExplanationLine& line) { return line.text.empty(); });
  return lines;
}

}  // namespace gauntlet
