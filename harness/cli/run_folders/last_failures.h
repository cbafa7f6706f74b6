// The cases that did not pass in the last run: gauntlet run --last-failed.
#ifndef GAUNTLET_HARNESS_CLI_RUN_FOLDERS_LAST_FAILURES_H_
#define GAUNTLET_HARNESS_CLI_RUN_FOLDERS_LAST_FAILURES_H_

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/status.h"

namespace gauntlet {

// Returns the name of the case that a repetition is of: "a" for "a(2of3)".
std::string_view WithoutTime(std::string_view name);

struct LastFailures {
  // By name and world; of a repetition, its case too.
  std::set<std::pair<std::string, std::string>> cases;
  std::string note;  // one line about a run that was killed; empty: none
};

// The cases of the last run in `runs` that failed, are inconclusive or were not
// run. A newer run that was killed has no result: its cases have the verdicts
// of their records, and those without a record were not run.
// kInvalidArgument: there is no earlier run, or its result cannot be read.
Result<LastFailures> FindLastFailures(const std::filesystem::path& runs);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_FOLDERS_LAST_FAILURES_H_
