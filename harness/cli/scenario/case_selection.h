// Selects the cases of scenario files that `gauntlet run` runs.
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

// Deprecated spellings and warnings of a scenario file.
struct FileNotes {
  std::string file;
  std::string text;  // rendered; empty: none
};

struct LoadedScenarios {
  std::vector<Case> cases;
  uint64_t scenarios = 0;
  std::string errors;            // rendered; empty: none
  std::vector<FileNotes> notes;  // of each file, in order
};

// Loads all files in and below the paths, in order. Mistakes in the files are
// reported in `errors`; the Status is an error only if a path cannot be read.
Result<LoadedScenarios> LoadScenarioFiles(
    const std::vector<std::string>& paths);
LoadedScenarios LoadDemo();

// Selected cases. A case that runs in two worlds has two items.
struct Selection {
  std::vector<SuiteItem> items;  // selected
  size_t of = 0;                 // items before names, labels and shards select
  bool is_shard = false;         // `items` are one of several shards
  std::string note;              // about --last-failed; empty: none
  // Reason why nothing is selected: "; no case has the label smok; did you mean
  // smoke?" Other reasons: no case has the given part of a name, the paths have
  // no scenario files, or --last-failed has nothing to run. Empty: something is
  // selected, or another filter excludes all cases.
  std::string hint;
};

// Returns the cases that the command selects, one item for each world in which
// a case runs. `variable` returns the value of an environment variable, or
// null. Without --shard, the shard variables of GoogleTest and Bazel apply.
// kInvalidArgument: --last-failed without an earlier run, invalid shard
// variables, or two selected cases with the same name.
Result<Selection> SelectCases(
    const RunCommand& command, const std::vector<Case>& cases,
    const std::function<const char*(const char*)>& variable);

// Returns the texts of the notes. The second function omits files without a
// selected item: a shard of a suite repeats no warning of another shard.
std::string TextOf(const std::vector<FileNotes>& notes);
std::string TextOfSelected(const std::vector<FileNotes>& notes,
                           const std::vector<SuiteItem>& items);

// Returns the error, with its place, of the first case whose data cannot be
// read or do not fit its job; "" if there is none.
std::string DataError(const std::vector<const Case*>& cases);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SCENARIO_CASE_SELECTION_H_
