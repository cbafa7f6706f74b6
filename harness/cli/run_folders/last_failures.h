// The cases that did not pass in the last run, for `gauntlet run
// --last-failed`.
#ifndef GAUNTLET_HARNESS_CLI_RUN_FOLDERS_LAST_FAILURES_H_
#define GAUNTLET_HARNESS_CLI_RUN_FOLDERS_LAST_FAILURES_H_

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/status.h"

namespace gauntlet {

// Returns the case's name without the number of a repetition: "a" for
// "a(2of3)".
std::string_view WithoutTime(std::string_view name);

struct LastFailures {
  // Name and world of each case. A repetition has two entries: one with its own
  // name, and one with the name without the number of the repetition.
  std::set<std::pair<std::string, std::string>> cases;
  std::string note;  // one line about a run without a result; empty: none
};

// Returns the cases of the last run in `runs` that failed, are inconclusive or
// were not run. If a newer run was killed, returns the cases of that run
// instead. A killed run has no result, so the verdicts come from the cases'
// records. A case without a record counts as not run. kInvalidArgument: there
// is no earlier run, or its result cannot be read.
Result<LastFailures> FindLastFailures(const std::filesystem::path& runs);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_FOLDERS_LAST_FAILURES_H_
