// Results of earlier runs, found by path or by name.
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

// File in a case's folder to which `gauntlet run` writes the scenario of this
// case alone.
inline constexpr const char* kScenarioFileName = "scenario.yaml";

struct StoredRun {
  std::filesystem::path folder;  // absolute path of the run's folder
  // Paths and replay commands in the result refer to `folder`, even if it is a
  // copy of the folder of the run. A case without files in `folder` has no
  // directory.
  RunResult result;
};

// Loads the result of an earlier run. `target` is a result.json, the folder of
// a run, or a unique prefix of a run's name in `runs`. Paths in the result
// never lead out of the folder of the run. The error is one line: the run does
// not exist, or its result has another version.
Result<StoredRun> LoadStoredRun(const std::string& target,
                                const std::filesystem::path& runs);

// Returns true iff the folder is that of a run without a result: the run was
// killed, or its result was deleted.
bool IsUnfinishedRun(const std::filesystem::path& folder);
// Returns the reason why a run has no result, and what to do.
std::string WhyUnfinished(const std::filesystem::path& folder);

// Returns the record of a case of a stored run; nullopt if the record does not
// exist or cannot be read.
std::optional<Record> StoredRecordOf(const CaseResult& one);
// Returns the reason why the record of the case cannot be read; "" if it can be
// read or does not exist.
std::string WhyUnreadable(const CaseResult& one);

// Returns the scenario of the case alone, as YAML; "" if it was not kept.
std::string StoredScenarioOf(const CaseResult& one);

// Sets the case's directory after its files were moved to `directory`; "": the
// case has no files. If the trace's file is in `directory`, sets its path too;
// else clears it. Changes the replay command only if the case's record is in
// `directory`. Does not change the directories of the case's tries.
void MoveCase(const std::filesystem::path& directory, CaseResult& one);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RUNS_H_
