// An exploration writes a scenario for each violation that it finds. Labels of
// the scenario name the violation.
#ifndef GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_FOUND_VIOLATION_H_
#define GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_FOUND_VIOLATION_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/explore/diagnosis/shrink.h"
#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns the scenario's labels: "finding" and "found:trajectory/state-digest".
std::vector<std::string> FindingLabels(const Violation& violation);
bool IsFinding(const std::vector<std::string>& labels);
// Reads the violation from the labels; nullopt if no label names one.
std::optional<Violation> FoundViolation(const std::vector<std::string>& labels);

// Returns the verdict's finding for this violation; nullopt if it has none.
std::optional<Finding> FindingOf(const Verdict& verdict,
                                 const Violation& violation);

// Returns true iff the run shows this violation, with or without others.
bool IsBroken(const Record& record, const Verdict& verdict,
              const Violation& violation);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_FOUND_VIOLATION_H_
