// Folders and records of earlier runs, found by path or by name.
#ifndef GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RECORDS_H_
#define GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RECORDS_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "harness/cli/flags/commands.h"
#include "harness/record/record.h"

namespace gauntlet {

// Folder of the findings, in the folder of an exploration.
inline constexpr const char* kFindingsFolder = "findings";

// Folder of the crash test, in the folder of a case with a trainer.
inline constexpr const char* kCrashTestOfCase = "crash-test";
// Returns the folder of the crash test of a case; "" if the case has none.
std::string CrashTestFolderOf(const std::filesystem::path& case_folder);
// Returns "a crash test of a program has no record and no events; its results
// are in FOLDER" for the folder of such a case.
std::string WhyCrashTestHasNoRecord(const std::filesystem::path& case_folder);

// Returns true iff the text is a path rather than the name of a run: it begins
// with "/" or ".", or ends in ".yaml" or ".jsonl".
bool LooksLikeAPath(const std::string& text);
bool IsFile(const std::filesystem::path& path);
bool IsFolder(const std::filesystem::path& path);
// Return the names of visible folders, and of visible files, in this folder,
// ascending. A folder that cannot be read has none.
std::vector<std::string> FoldersIn(const std::filesystem::path& path);
std::vector<std::string> FilesIn(const std::filesystem::path& path);
// Returns an error if this folder cannot be listed, or a name in it cannot be
// looked up.
Status CheckListing(const std::filesystem::path& path);
// Returns true iff the name is that of a case's folder: CASE.sim or CASE.real.
bool IsFolderOfCase(const std::filesystem::path& path);
struct CaseFolder {
  std::string name;   // of the case
  std::string world;  // "sim" or "real"
};
// REQUIRES: IsFolderOfCase(folder).
CaseFolder CaseOfFolder(const std::filesystem::path& folder);
// Sorts the folders of cases by their names. If a case was recorded in both
// worlds, its simulated run comes first.
void SortCases(std::vector<std::string>& folders);

// Returns `text` if it is one of the names, or else the only name that begins
// with `text`. kNotFound: no name does; the message lists similar ones.
// kInvalidArgument: several names do; the message lists them. Both messages
// begin with `what`.
Result<std::string> PickName(std::string_view what, const std::string& text,
                             const std::vector<std::string>& names);

// Returns kNotFound if the path is no folder. If nothing is there, the message
// names the command that creates it.
Status CheckFolderOfRuns(const std::filesystem::path& runs);

// Returns the name of the run in `runs` that is `id` or begins with it.
Result<std::string> PickRun(const std::string& id,
                            const std::filesystem::path& runs);

// Folder of a run, and the name of one case in it; "": all cases.
struct RunTarget {
  std::filesystem::path folder;
  std::string case_name;
};

// Returns true iff the folder is that of a finished run.
bool IsFolderOfRun(const std::filesystem::path& path);

// Resolves RUN or RUN/CASE, if RUN is the whole name of a finished run in the
// folder of runs, such as `latest`. Such a target means the run even if the
// current directory has a file or folder of the same name; `./latest` means the
// latter. Returns nullopt for any other target. The case need not exist.
std::optional<RunTarget> FindNamedRun(const std::string& target,
                                      const std::filesystem::path& runs);

// Resolves RUN or RUN/CASE. RUN is, in this order: the whole name of a run
// (FindNamedRun), the path of a run's folder, or a prefix of a run's name.
// Slashes at the end of `target` have no meaning.
Result<RunTarget> PickRunTarget(const std::string& target,
                                const std::filesystem::path& runs);

// Returns the folders of one case of the run. `text` is the name of a folder or
// of a case, or a unique prefix of a case's name. A case counts if it has a
// record, or is a crash test of another program. If a case was recorded in both
// worlds, its name selects both folders. kNotFound: there is no such case, or
// its folder has no record. kIoError: the run's folder cannot be listed, or
// that of a selected case cannot be read.
Result<std::vector<std::string>> PickCaseFolders(
    const std::filesystem::path& run, const std::string& text);

// Returns the folders of a run's cases that have a record, sorted by SortCases.
// `text` selects one case as in PickCaseFolders; "" selects all. If a case was
// recorded in both worlds, selects the record of `world`. With kBoth, ""
// selects both records, and the name of a case selects the simulated one. If a
// case has no folder for `world`, selects its record of the other world.
// kNotFound: there is no such case; it is a crash test; or its folder for
// `world` (the simulation if kBoth) has no record. Errors of PickCaseFolders.
Result<std::vector<std::string>> PickCases(const std::filesystem::path& run,
                                           const std::string& text,
                                           WorldChoice world);

// Refuses a file that is named as a scenario. The error says that `expected` is
// needed there, and asks to run the scenario first and then to name
// `name_then`.
Status CheckIsNoScenario(const std::filesystem::path& file,
                         std::string_view expected, std::string_view name_then);

// kInvalidArgument: the file is not a record of this version, or it states a
// world, a number of workers or a plan that no case can have.
Result<Record> LoadRecord(const std::filesystem::path& file);

// Returns the path of the one record that the target names. The target is a
// record.jsonl, the folder of a case, or RUN/CASE; RUN means the run's only
// case. If the case was recorded in both worlds, selects the record of `world`;
// kBoth: the simulated one.
Result<std::filesystem::path> FindRecordFile(const std::string& target,
                                             const std::filesystem::path& runs,
                                             WorldChoice world);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_FOLDERS_STORED_RECORDS_H_
