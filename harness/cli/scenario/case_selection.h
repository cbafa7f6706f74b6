// Scenario files into the cases that `gauntlet run` was asked for.
#ifndef GAUNTLET_HARNESS_CLI_SCENARIO_CASE_SELECTION_H_
#define GAUNTLET_HARNESS_CLI_SCENARIO_CASE_SELECTION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/cli/flags/commands.h"
#include "harness/run/suite.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

struct LoadedScenarios {
  std::vector<Case> cases;
  uint64_t scenarios = 0;
  std::string errors;  // rendered; empty: none
  std::string notes;   // old spellings and warnings, likewise
};

// All files in and below the paths, in order; mistakes in them are in `errors`.
// Errors: those of reading a path.
Result<LoadedScenarios> LoadScenarioFiles(
    const std::vector<std::string>& paths);
LoadedScenarios LoadDemo();

// Cases in each of their worlds.
struct Selection {
  std::vector<SuiteItem> items;  // selected
  size_t of = 0;                 // before names, labels and shards select
  std::string note;              // about --last-failed; empty: none
};

// The cases that the command selects, each in each of its worlds. `variable`
// returns the value of an environment variable, or null: without --shard, those
// of GoogleTest and Bazel count.
// kInvalidArgument: --last-failed without an earlier run, shard variables that
// make no sense, or two selected cases of one name.
Result<Selection> SelectCases(
    const RunCommand& command, const std::vector<Case>& cases,
    const std::function<const char*(const char*)>& variable);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SCENARIO_CASE_SELECTION_H_
