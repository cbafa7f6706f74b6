// Room for files in a folder.
#ifndef GAUNTLET_HARNESS_RUN_DISK_ROOM_H_
#define GAUNTLET_HARNESS_RUN_DISK_ROOM_H_

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace gauntlet {

// Bytes that the file system of the folder has for any user; 0: unknown.
uint64_t FreeBytes(const std::filesystem::path& directory);

// Returns true iff 64 KiB have no room in the folder. Writes a file there for a
// moment if the file system has less than that.
bool IsFull(const std::filesystem::path& directory);

// Returns true iff a process has written that the system had no space left. An
// injected fault is written in other words.
bool TellsOfFullDisk(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_DISK_ROOM_H_
