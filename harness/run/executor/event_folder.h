// The folder to which the processes of a real run write their events, one file
// each.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_EVENT_FOLDER_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_EVENT_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/status.h"
#include "harness/record/event.h"

namespace gauntlet {

// Worker and incarnation of a file: 1 and 2 for "worker-1-incarnation-2.jsonl".
// For the file of a launcher, the worker is kLauncherWorker.
using IncarnationKey = std::pair<int, int>;

// Returns the workers' files with this ending in a folder. Also finds files
// with the names that earlier versions used (ParseIncarnationFileName).
std::map<IncarnationKey, std::filesystem::path> FilesOfWorkers(
    const std::filesystem::path& folder, std::string_view ending);

// Returns the lengths of the files in a folder, by path.
using FileLengths = std::map<std::filesystem::path, uint64_t>;
FileLengths LengthsIn(const std::filesystem::path& folder);

struct FolderEvents {
  std::vector<IncarnationEvents>
      incarnations;       // launchers, then workers, by incarnation
  uint64_t left_out = 0;  // number of events
};

// Reads the events that launchers and workers have added to their files since
// `before`. Reads at most `most_bytes` in total; the newest events of each file
// have priority.
Result<FolderEvents> ReadEventFolder(const std::filesystem::path& folder,
                                     const FileLengths& before,
                                     uint64_t most_bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_EVENT_FOLDER_H_
