// Results that runs have left, found by path or by name.
#ifndef GAUNTLET_HARNESS_CLI_STORED_RUNS_H_
#define GAUNTLET_HARNESS_CLI_STORED_RUNS_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "harness/record/record.h"
#include "harness/record/result.h"

namespace gauntlet {

inline constexpr std::string_view kResultFileName = "result.json";

struct StoredRun {
  std::filesystem::path folder;  // of the run, absolute
  // Places and replay commands are those of `folder`, also where it was copied
  // from elsewhere. A case without files there has no directory.
  RunResult result;
};

// `target`: a result.json, the folder of a run, or enough of a run's name in
// the folder of runs. Every file of the result lies in the folder: a path in it
// leads nowhere else. An error is one line: there is no such run, or no result
// of this version.
Result<StoredRun> LoadStoredRun(const std::string& target,
                                const std::filesystem::path& runs);

// The record of a case of a stored run; nullopt: there is none, or it cannot be
// read.
std::optional<Record> StoredRecordOf(const CaseResult& one);

// Sets the place of the case, that of its trace and the replay command: its
// files are now in that folder. Its tries keep their places.
void MoveCase(const std::filesystem::path& directory, CaseResult& one);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_STORED_RUNS_H_
