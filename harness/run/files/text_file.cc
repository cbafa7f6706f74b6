#include "harness/run/files/text_file.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/posix_status.h"
#include "engine/real/posix/regular_file.h"
#include "engine/utf8.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// `error` is an errno value.
Status CannotBeWritten(const std::filesystem::path& path, int error) {
  Status failed = PosixError(error, path.string(), "cannot be written");
  return failed.code() == Code::kResourceExhausted ? failed
                                                   : IoError(failed.message());
}

// Writes the text and closes the file. After an error, a part of the text may
// be in the file.
Status WriteAndClose(Descriptor file, const std::filesystem::path& path,
                     std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = RetryOnInterrupt(
        [&] { return write(file.get(), text.data(), text.size()); });
    if (written < 0) return CannotBeWritten(path, errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  // Some file systems report a full disk only here.
  if (close(file.Release()) != 0) return CannotBeWritten(path, errno);
  return OkStatus();
}

Status WriteInPlace(const std::filesystem::path& path, std::string_view text) {
  Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid()) return CannotBeWritten(path, errno);
  return WriteAndClose(std::move(file), path, text);
}

// Creates a new file in the directory of `path`, and sets `name` to its path.
// If the returned descriptor is not valid, errno has the error.
Descriptor CreateNextTo(const std::filesystem::path& path, std::string& name) {
  static std::atomic<uint64_t> count = 0;
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    name = fmt::format("{}.tmp-{}-{}", path.string(), getpid(), ++count);
    Descriptor file(open(name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         0666));
    if (file.valid() || errno != EEXIST) return file;
  }
  return Descriptor();
}

// Returns true iff the error means that the folder accepts no new file. An
// existing file in it may still be writable.
bool FolderRefuses(int error) {
  return error == EACCES || error == EPERM || error == EROFS ||
         error == ENAMETOOLONG;
}

// If the path is a link, returns the path to which it leads, even if nothing is
// there. Else returns the path itself.
std::filesystem::path Followed(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as many as the system follows
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(path, error)) break;
    const std::filesystem::path target =
        std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return path;
}

}  // namespace

std::string ReadTextFile(const std::filesystem::path& path) {
  constexpr size_t kMaxFileBytes = size_t{256} << 20;
  constexpr size_t kBlockBytes = 65536;
  std::string text;
  // O_NONBLOCK, because a pipe may be in place of the file and must not block
  // us.
  const Descriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file.valid() || !CheckRegularFile(file, path.string()).ok()) return text;
  while (text.size() < kMaxFileBytes) {
    const size_t size = text.size();
    text.resize(size + kBlockBytes);
    const ssize_t got = RetryOnInterrupt(
        [&] { return read(file.get(), text.data() + size, kBlockBytes); });
    text.resize(size + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got <= 0) break;
  }
  return text;
}

Status WriteNewTextFile(const std::filesystem::path& path,
                        std::string_view text) {
  Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid() && errno == EEXIST) {
    return AlreadyExists(path.string() + ": there is one already");
  }
  if (!file.valid()) return CannotBeWritten(path, errno);
  Status written = WriteAndClose(std::move(file), path, text);
  if (!written.ok()) unlink(path.c_str());
  return written;
}

Status WriteTextFile(const std::filesystem::path& path,
                     const std::string& text) {
  const std::filesystem::path target = Followed(path);
  struct stat found = {};
  const bool is_there = stat(target.c_str(), &found) == 0;
  if (is_there && !S_ISREG(found.st_mode)) return WriteInPlace(target, text);
  std::string temporary;
  Descriptor file = CreateNextTo(target, temporary);
  if (!file.valid()) {
    return FolderRefuses(errno) ? WriteInPlace(target, text)
                                : CannotBeWritten(path, errno);
  }
  // If fchmod fails, the file keeps the default mode of new files.
  if (is_there) {
    static_cast<void>(fchmod(file.get(), found.st_mode & ALLPERMS));
  }
  Status written = WriteAndClose(std::move(file), path, text);
  if (written.ok() && rename(temporary.c_str(), target.c_str()) != 0) {
    written = CannotBeWritten(path, errno);
  }
  if (!written.ok()) unlink(temporary.c_str());
  return written;
}

std::string WrittenFileLine(const std::string& file, std::string_view content) {
  return fmt::format("{}  {} KiB\n", EscapeBytes(file),
                     (content.size() + 1023) / 1024);
}

}  // namespace gauntlet
