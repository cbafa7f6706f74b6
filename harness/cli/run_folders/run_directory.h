// Folders for the files of runs and explorations. Each run or exploration gets
// a new one.
#ifndef GAUNTLET_HARNESS_CLI_RUN_FOLDERS_RUN_DIRECTORY_H_
#define GAUNTLET_HARNESS_CLI_RUN_FOLDERS_RUN_DIRECTORY_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// Names of files and folders in the folder of a run or an exploration.
inline constexpr std::string_view kResultFileName = "result.json";
// The cases of a run in progress, in the format of its result.
inline constexpr std::string_view kUnfinishedFileName = "unfinished.json";
inline constexpr std::string_view kJunitFileName = "junit.xml";
inline constexpr std::string_view kReportFileName = "report.html";
inline constexpr std::string_view kFindingsFolderName = "findings";

// Returns the absolute path of a folder for runs. The folder need not exist.
// kInvalidArgument: the path is not UTF-8, so records, which are JSON, could
// not name files below it.
Result<std::filesystem::path> AbsoluteFolder(const std::filesystem::path& path);

// Returns the topmost folder on the path that does not exist; empty: all exist.
std::filesystem::path TopmostMissing(const std::filesystem::path& absolute);

// Removes the folder and its parents up to `created`, as far as they are empty.
// Removes nothing if `created` is empty. `created`: the TopmostMissing of the
// path before the folder was created.
void RemoveEmptyFolders(const std::filesystem::path& absolute,
                        const std::filesystem::path& created);

// Returns the error of a folder that cannot be written to, with advice: "DIR:
// …; choose another folder with --out DIR". `flag`: the option that chooses the
// folder.
Status ChooseAnotherFolder(const Status& why, std::string_view flag);

// Creates a new folder below `runs`, named after the time:
// "20261121T104300-77".
Result<std::filesystem::path> MakeRunDirectory(
    const std::filesystem::path& runs);

// Opens a folder so that it can be locked. Returns an invalid descriptor if it
// cannot be opened.
Descriptor OpenFolder(const std::filesystem::path& path);

// Locks the folder exclusively until the descriptor is closed. Returns false
// iff another process holds a lock on it; true if the file system has no locks.
bool LockUnlessHeld(const Descriptor& folder);

// Lock on the folder of runs. It is held while `latest` is set and while old
// runs are removed. So no process removes a run to which another process is
// setting `latest`. The constructor waits for other holders. If the file system
// has no locks, nothing is protected.
class RunsFolderLock {
 public:
  explicit RunsFolderLock(const std::filesystem::path& runs);

 private:
  Descriptor folder_;
};

// Points the link `latest` in the folder of runs to the run. The link exists at
// every moment; of overlapping runs, it names the one that ended last.
// REQUIRES: the results are in the folder of the run. The message of an error
// (kIoError) names this folder.
Status LinkLatest(const std::filesystem::path& runs, const std::string& id);

// A folder that one command writes to. `lock` is held for the lifetime of the
// value, so that no other command takes the folder while it is still empty.
struct OutputFolder {
  std::filesystem::path path;
  // The topmost folder that was created for `path`, as an absolute path; empty:
  // `path` existed.
  std::filesystem::path created = {};
  Descriptor lock;
};

// Creates a folder as MakeRunDirectory does, for a command that removes the
// folder if the command fails. The path is absolute. The folder is not locked,
// as its name is unique.
Result<OutputFolder> MakeRunOutput(const std::filesystem::path& runs);

enum class EarlierFindings : uint8_t { kRefuse, kKeep };

// Creates the folder for the findings of an exploration: `out`, or, if that is
// empty, "findings" in a new folder below `runs`. kInvalidArgument: the folder
// cannot be written to, is not empty, or another command holds it. With kKeep,
// the folder may contain files of an exploration.
Result<OutputFolder> MakeFindingsDirectory(
    const std::string& out, const std::filesystem::path& runs,
    EarlierFindings earlier = EarlierFindings::kRefuse);

// Removes the files in the folder. Removes the folder and its empty parents
// only if MakeRunOutput or MakeFindingsDirectory created them.
void RemoveWithParents(const OutputFolder& folder);

// Removes the folder for findings and its parent if they are in `runs` and
// empty.
void RemoveIfUnused(const std::filesystem::path& findings,
                    const std::filesystem::path& runs);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_FOLDERS_RUN_DIRECTORY_H_
