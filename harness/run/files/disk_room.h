// Free disk space of a folder, and detection of a full disk.
#ifndef GAUNTLET_HARNESS_RUN_FILES_DISK_ROOM_H_
#define GAUNTLET_HARNESS_RUN_FILES_DISK_ROOM_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace gauntlet {

// Bytes that the file system of the folder has for any user; 0: unknown.
uint64_t FreeBytes(const std::filesystem::path& directory);

// Returns true iff 64 KiB have no room in the folder. Writes a file there for a
// moment if the file system has less than that.
bool IsFull(const std::filesystem::path& directory);

// Returns true iff a process has written that the system had no space left. An
// injected fault is written in other words.
bool TellsOfFullDisk(std::string_view text);

// Watches the files of some folders for processes that write that the system
// had no space left. Such a process may remove its file, so that there is room
// again by the time that anybody looks.
class FullDiskWatch {
 public:
  explicit FullDiskWatch(std::vector<std::filesystem::path> folders)
      : folders_(std::move(folders)) {}

  // Returns true iff a process has written so since the last call.
  bool Found();

 private:
  const std::vector<std::filesystem::path> folders_;
  std::map<std::filesystem::path, uint64_t> read_;  // bytes of each file
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_DISK_ROOM_H_
