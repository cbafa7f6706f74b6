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

// Returns the bytes that the file system of the folder has free for any user; 0
// if unknown.
uint64_t FreeBytes(const std::filesystem::path& directory);

// Returns true iff the folder has no room for 64 KiB. If the file system
// reports less than that, writes a temporary file to find out.
bool IsFull(const std::filesystem::path& directory);

// Returns true iff the text has the system's message for a full disk. Injected
// faults use other words.
bool ReportsFullDisk(std::string_view text);

// Watches the files of some folders for the system's message for a full disk. A
// process that fails for this reason may remove its file: the disk may have
// room again by the time of a check.
class FullDiskWatch {
 public:
  explicit FullDiskWatch(std::vector<std::filesystem::path> folders)
      : folders_(std::move(folders)) {}

  // Returns true iff a process has written the message since the last call.
  bool Found();

 private:
  const std::vector<std::filesystem::path> folders_;
  std::map<std::filesystem::path, uint64_t> read_;  // bytes of each file
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_DISK_ROOM_H_
