// What an exploration found broken, as the scenario that it leaves says it.
#ifndef GAUNTLET_HARNESS_EXPLORE_FOUND_BREACH_H_
#define GAUNTLET_HARNESS_EXPLORE_FOUND_BREACH_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/explore/shrink.h"
#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// The scenario's labels: "finding" and "found:trajectory/state-digest".
std::vector<std::string> FindingLabels(const Breach& breach);
bool IsFinding(const std::vector<std::string>& labels);
// The inverse; nullopt where no label says it.
std::optional<Breach> FoundBreach(const std::vector<std::string>& labels);

// What of the verdict this is, in words; nullopt where it says nothing of it.
std::optional<Finding> FindingOf(const Verdict& verdict, const Breach& breach);

// Whether the run breaks this, whatever else it breaks or does not.
bool IsBroken(const Record& record, const Verdict& verdict,
              const Breach& breach);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_FOUND_BREACH_H_
