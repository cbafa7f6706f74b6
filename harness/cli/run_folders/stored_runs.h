// Results that runs have left, found by path or by name.
#ifndef GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RUNS_H_
#define GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RUNS_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "harness/record/record.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Name of the file with the case alone that `gauntlet run` leaves in its
// folder.
inline constexpr const char* kScenarioFileName = "scenario.yaml";

struct StoredRun {
  std::filesystem::path folder;  // absolute path of the run's folder
  // Paths and replay commands refer to `folder`, even if it is a copy. A case
  // without files in `folder` has no directory.
  RunResult result;
};

// `target`: a result.json, the folder of a run, or a unique prefix of a run's
// name in `runs`. Paths in the result never lead out of the folder of the run.
// The error is one line: the run does not exist, or its result has another
// version.
Result<StoredRun> LoadStoredRun(const std::string& target,
                                const std::filesystem::path& runs);

// The record of a case of a stored run; nullopt: there is none, or it cannot be
// read.
std::optional<Record> StoredRecordOf(const CaseResult& one);

// The scenario of the case alone, as YAML; "": it is not kept.
std::string StoredScenarioOf(const CaseResult& one);

// Changes directory, trace and replay command of the case to `directory`, which
// now has its files. Does not change its tries.
void MoveCase(const std::filesystem::path& directory, CaseResult& one);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RUNS_H_
