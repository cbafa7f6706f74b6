// Free disk space of a folder, and detection of a full disk and of the limit on
// file sizes.
#ifndef GAUNTLET_HARNESS_RUN_FILES_DISK_ROOM_H_
#define GAUNTLET_HARNESS_RUN_FILES_DISK_ROOM_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gauntlet {

// Returns how many bytes of the folder's file system are free for any user; 0
// if unknown.
uint64_t FreeBytes(const std::filesystem::path& directory);

// Returns true iff the folder has no room for 64 KiB. If the file system
// reports less than that, writes a temporary file to find out.
bool IsFull(const std::filesystem::path& directory);

// Returns true iff the text contains the system's message for a full disk.
// Injected faults have messages of their own.
bool ReportsFullDisk(std::string_view text);

// Returns "FILE: reached the limit on file sizes (ulimit -f), 8192 bytes, so
// its later contents are missing" for the first file in the folders whose size
// has reached this process's limit; "" if there is none. Processes that this
// process starts have the same limit.
std::string FindFileAtLimit(const std::vector<std::filesystem::path>& folders);

// Watches the files in some folders for the system's message for a full disk.
// Free space at the time of a check does not prove that there was room before:
// a process that found the disk full may have removed its file.
class FullDiskWatch {
 public:
  explicit FullDiskWatch(std::vector<std::filesystem::path> folders)
      : folders_(std::move(folders)) {}

  // Returns true iff a process has written the message since the last call.
  bool Found();

 private:
  const std::vector<std::filesystem::path> folders_;
  std::map<std::filesystem::path, uint64_t> read_;  // bytes read of each file
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_DISK_ROOM_H_
