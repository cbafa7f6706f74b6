// The folders and records that runs have left, found by path or by name.
#ifndef GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RECORDS_H_
#define GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RECORDS_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "harness/cli/flags/commands.h"
#include "harness/record/record.h"

namespace gauntlet {

// In the folder of an exploration's run: its findings.
inline constexpr const char* kFindingsFolder = "findings";

// True iff the text can be no run's name.
bool LooksLikeAPath(const std::string& text);
bool IsFile(const std::filesystem::path& path);
bool IsFolder(const std::filesystem::path& path);
// Names in this folder, without hidden ones, ascending.
std::vector<std::string> FoldersIn(const std::filesystem::path& path);
std::vector<std::string> FilesIn(const std::filesystem::path& path);
// Returns true iff the name is one that the folder of a case has: CASE.sim or
// CASE.real.
bool IsFolderOfCase(const std::filesystem::path& path);

// The name that is `text`, or the only one that begins with it. kNotFound lists
// what is near, kInvalidArgument several that fit; both begin with `what`.
Result<std::string> PickName(std::string_view what, const std::string& text,
                             const std::vector<std::string>& names);

// The name of the run in the folder of runs that is `id` or begins with it.
Result<std::string> PickRun(const std::string& id,
                            const std::filesystem::path& runs);

// A run's folder, and the case of it that is meant; "": all of them.
struct RunTarget {
  std::filesystem::path folder;
  std::string case_name;
};

// Returns true iff the folder is that of a run that is over.
bool IsFolderOfRun(const std::filesystem::path& path);

// RUN or RUN/CASE. RUN is the folder of a run, wherever it lies, or in the
// folder of runs `latest` or the beginning of a name.
Result<RunTarget> PickRunTarget(const std::string& target,
                                const std::filesystem::path& runs);

// The folders of a run's cases that have a record; "" takes all, else `text` is
// a folder, a case, or enough of a case's name. Of a case recorded in both
// worlds, the simulated one comes first, and is the one taken by name.
Result<std::vector<std::string>> PickCases(const std::filesystem::path& run,
                                           const std::string& text,
                                           WorldChoice world);

// kInvalidArgument: the file is no record of this version.
Result<Record> LoadRecord(const std::filesystem::path& file);

// The one record.jsonl that is meant: a record.jsonl, the folder of a case, or
// RUN/CASE; RUN alone if it has one case.
Result<std::filesystem::path> FindRecordFile(const std::string& target,
                                             const std::filesystem::path& runs,
                                             WorldChoice world);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RECORDS_H_
