#include "harness/run/disk_room.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "engine/status.h"
#include "harness/run/text_file.h"
#include <sys/statvfs.h>

namespace gauntlet {
namespace {

constexpr size_t kLeastRoom = size_t{64} << 10;

}  // namespace

uint64_t FreeBytes(const std::filesystem::path& directory) {
  struct statvfs facts = {};
  if (statvfs(directory.c_str(), &facts) != 0) return 0;
  return static_cast<uint64_t>(facts.f_bavail) * facts.f_frsize;
}

// The super-user may write where others have no room left, so the number of
// free bytes is only a hint.
bool IsFull(const std::filesystem::path& directory) {
  if (FreeBytes(directory) >= kLeastRoom) return false;
  const std::filesystem::path file = directory / ".room";
  const Status written = WriteNewTextFile(file, std::string(kLeastRoom, '.'));
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return written.code() == Code::kResourceExhausted;
}

bool TellsOfFullDisk(std::string_view text) {
  return text.find(std::strerror(ENOSPC)) != text.npos;
}

}  // namespace gauntlet
