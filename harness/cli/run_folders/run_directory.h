// The folders that runs and explorations leave their files in. None is ever
// used twice.
#ifndef GAUNTLET_HARNESS_CLI_RUN_FOLDERS_RUN_DIRECTORY_H_
#define GAUNTLET_HARNESS_CLI_RUN_FOLDERS_RUN_DIRECTORY_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// Names of files and folders in the folder of a run or an exploration.
inline constexpr std::string_view kResultFileName = "result.json";
// The cases of a run that is not over, in the form of its result.
inline constexpr std::string_view kUnfinishedFileName = "unfinished.json";
inline constexpr std::string_view kJunitFileName = "junit.xml";
inline constexpr std::string_view kReportFileName = "report.html";
inline constexpr std::string_view kFindingsFolderName = "findings";

// Returns the absolute path of a folder for runs, which need not exist.
// kInvalidArgument: the path is not UTF-8, so records, which are JSON, could
// not name what is below it.
Result<std::filesystem::path> AbsoluteFolder(const std::filesystem::path& path);

// Makes a new folder below `runs`, named by the time: "20261121T104300-77".
Result<std::filesystem::path> MakeRunDirectory(
    const std::filesystem::path& runs);

// Opens a folder, to lock it; not valid: it cannot be.
Descriptor OpenFolder(const std::filesystem::path& path);

// Locks the folder of runs while `latest` is set or old runs are removed, so
// that no run is removed that another program makes the latest. Waits for the
// other one. If the file system has no locks, nothing is protected.
class RunsFolderLock {
 public:
  explicit RunsFolderLock(const std::filesystem::path& runs);

 private:
  Descriptor folder_;
};

// Makes the link `latest` in the folder of runs name the run. There is one at
// every moment: of runs that overlap, the one that ended last.
Status LinkLatest(const std::filesystem::path& runs, const std::string& id);

// Creates the folder for the findings of an exploration: `out`, or, if that is
// empty, "findings" in a new folder below `runs`. kInvalidArgument: the folder
// cannot be written to, or is not empty.
Result<std::filesystem::path> MakeFindingsDirectory(
    const std::string& out, const std::filesystem::path& runs);

// Removes the folder for findings and its parent, if `runs` has them and they
// are empty.
void RemoveIfUnused(const std::filesystem::path& findings,
                    const std::filesystem::path& runs);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_FOLDERS_RUN_DIRECTORY_H_
