#include "harness/run/files/disk_room.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "engine/real/posix/folder_entries.h"
#include "engine/status.h"
#include "harness/run/files/text_file.h"
#include <fmt/format.h>
#include <sys/resource.h>
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

// The number of free bytes alone does not decide: root may write when other
// users have no room left. So tries to write a file.
bool IsFull(const std::filesystem::path& directory) {
  if (FreeBytes(directory) >= kLeastRoom) return false;
  const std::filesystem::path file = directory / ".room";
  const Status written = WriteNewTextFile(file, std::string(kLeastRoom, '.'));
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return written.code() == Code::kResourceExhausted;
}

bool ReportsFullDisk(std::string_view text) {
  return text.find(std::strerror(ENOSPC)) != text.npos;
}

std::string FindFileAtLimit(const std::vector<std::filesystem::path>& folders) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return "";
  }
  std::error_code error;
  for (const std::filesystem::path& folder : folders) {
    for (const auto& entry : EntriesOf(folder)) {
      const uint64_t size = entry.file_size(error);
      if (error || size < limit.rlim_cur) continue;
      return fmt::format(
          "{}: reached the limit on file sizes (ulimit -f), {} bytes, so its "
          "later contents are missing",
          entry.path().string(), limit.rlim_cur);
    }
  }
  return "";
}

bool FullDiskWatch::Found() {
  constexpr uint64_t kOverlap = 64;  // for a message that was written in part
  std::error_code error;
  for (const std::filesystem::path& folder : folders_) {
    for (const auto& entry : EntriesOf(folder)) {
      uint64_t& read = read_[entry.path()];
      const uint64_t size = entry.file_size(error);
      if (error || size <= read) continue;
      const uint64_t begin = read - std::min(read, kOverlap);
      std::string text(size - begin, '\0');
      std::ifstream in(entry.path(), std::ios::binary);
      in.seekg(static_cast<std::streamoff>(begin));
      in.read(text.data(), static_cast<std::streamsize>(text.size()));
      read = size;
      if (ReportsFullDisk(text)) return true;
    }
  }
  return false;
}

}  // namespace gauntlet
