// Resolves the target of `gauntlet replay`: a file, a folder or a run's name.
#ifndef GAUNTLET_HARNESS_CLI_RECORD_REPLAY_TARGET_H_
#define GAUNTLET_HARNESS_CLI_RECORD_REPLAY_TARGET_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/cli/flags/commands.h"
#include "harness/record/record.h"
#include "harness/run/suite.h"

namespace gauntlet {

struct ReplayTarget {
  SuiteItem item;
  std::optional<Record> recorded;  // nullopt: there is only the scenario
  std::string build;               // of the recording program; "": not known
};

// Returns the case of a record. Reads it from the scenario stored in `folder`,
// next to the record. If there is none, finds the case by name in the record's
// scenario file. kInvalidArgument: the file has changed, and its faults differ
// from those of the record. `errors`: see FindReplayTargets.
Result<Case> CaseOfRecord(const Record& record,
                          const std::filesystem::path& folder,
                          std::string& errors);

// Returns the targets in the order of their names. The command's target is one
// of:
//   - a scenario file: each of its cases;
//   - a record.jsonl, or the folder of a case in a run;
//   - RUN or RUN/CASE. RUN is `latest` or a unique prefix of a run's name, CASE
//     a unique prefix of a case's name. An exploration yields its findings.
//
// kNotFound lists similar names; kInvalidArgument: the files are invalid. If a
// scenario does not load, `errors` has all its errors, one per line.
Result<std::vector<ReplayTarget>> FindReplayTargets(
    const ReplayCommand& command, std::string& errors);

// Returns the file of the finding that the command names by an id
// ("weak-save-17-3-0.2") or by a prefix of the file's name ("finding-002").
// Searches the run RUN for "RUN/finding-002", else all runs, the newest first.
// Returns "" if the command names no finding in this way, or if no run has the
// finding. kInvalidArgument: several findings of the run have this prefix.
Result<std::string> FindFindingFile(const ReplayCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RECORD_REPLAY_TARGET_H_
