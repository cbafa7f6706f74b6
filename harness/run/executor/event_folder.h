// The folder to which the processes of a real run write their events, a file
// for each.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_EVENT_FOLDER_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_EVENT_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/status.h"
#include "harness/record/event.h"

namespace gauntlet {

// Worker and incarnation of "worker-1-life-2.jsonl"; a launcher's worker is
// kLauncherWorker.
using LifeKey = std::pair<int, int>;

// Files of workers in a folder, in no order.
std::vector<std::pair<LifeKey, std::filesystem::path>> FilesOfWorkers(
    const std::filesystem::path& folder);

// Lengths of the files of a folder, by path.
using FileLengths = std::map<std::filesystem::path, uint64_t>;
FileLengths LengthsIn(const std::filesystem::path& folder);

struct FolderEvents {
  std::vector<LifeEvents> lives;  // launchers, then workers, by incarnation
  uint64_t left_out = 0;          // number of events
};

// Reads what the files of launchers and workers have got since `before`: of all
// at most `most_bytes`, the newest events of each.
Result<FolderEvents> ReadEventFolder(const std::filesystem::path& folder,
                                     const FileLengths& before,
                                     uint64_t most_bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_EVENT_FOLDER_H_
