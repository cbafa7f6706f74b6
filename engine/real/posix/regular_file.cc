#include "engine/real/posix/regular_file.h"

#include <cerrno>
#include <string_view>

#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace gauntlet {
namespace {

constexpr mode_t kLogMode = 0664;  // never world-writable

Status NotRegular(const std::string& path, std::string_view found) {
  return InvalidArgument(
      fmt::format("{}: expected a regular file, found {}", path, found));
}

std::string_view KindName(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

}  // namespace

Status CheckRegularFile(const Descriptor& file, const std::string& path) {
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return PosixError(errno, path, "stat");
  if (S_ISREG(info.st_mode)) return OkStatus();
  if (S_ISDIR(info.st_mode))
    return IoError(NotRegular(path, "a directory").message());
  return NotRegular(path, KindName(info.st_mode));
}

Status OpenError(int error, const std::string& path) {
  if (error == ENXIO) return NotRegular(path, "a pipe or socket");
  if (error == EISDIR) return NotRegular(path, "a directory");
  struct stat info = {};
  const bool is_link = error == ELOOP && lstat(path.c_str(), &info) == 0 &&
                       S_ISLNK(info.st_mode);
  return is_link ? NotRegular(path, "a link") : PosixError(error, path, "open");
}

Result<Descriptor> OpenToAppend(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY |
                         O_NONBLOCK | O_NOFOLLOW;
  Descriptor file(
      RetryOnInterrupt([&] { return open(path.c_str(), kFlags, kLogMode); }));
  if (!file.valid()) return OpenError(errno, path);
  RETURN_IF_ERROR(CheckRegularFile(file, path));
  return file;
}

}  // namespace gauntlet
