#include "harness/run/text_file.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "engine/real/descriptor.h"
#include "engine/real/posix_status.h"
#include "engine/real/regular_file.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// `error` is an errno value.
Status CannotBeWritten(const std::filesystem::path& path, int error) {
  const std::string message = fmt::format("{}: cannot be written: {}",
                                          path.string(), std::strerror(error));
  return error == ENOSPC || error == EDQUOT ? ResourceExhausted(message)
                                            : IoError(message);
}

// Leaves what it has written if it fails.
Status WriteAll(const Descriptor& file, const std::filesystem::path& path,
                std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = RetryOnInterrupt(
        [&] { return write(file.get(), text.data(), text.size()); });
    if (written < 0) return CannotBeWritten(path, errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status WriteInPlace(const std::filesystem::path& path, std::string_view text) {
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid()) return CannotBeWritten(path, errno);
  return WriteAll(file, path, text);
}

// Where a link leads, also one to nothing; the path itself if it is none.
std::filesystem::path Followed(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as the system follows
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
  // A pipe in the place of a file must not hang its reader.
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
  Status written = WriteAll(file, path, text);
  if (!written.ok()) unlink(path.c_str());
  return written;
}

Status WriteTextFile(const std::filesystem::path& path,
                     const std::string& text) {
  const std::filesystem::path target = Followed(path);
  std::error_code error;
  const std::filesystem::file_status found =
      std::filesystem::status(target, error);
  const bool is_there = std::filesystem::exists(found);
  if (is_there && !std::filesystem::is_regular_file(found)) {
    return WriteInPlace(target, text);
  }
  const std::string beside =
      fmt::format("{}.tmp-{}", target.string(), getpid());
  Status written;
  {
    const Descriptor file(
        open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file.valid()) {
      return is_there ? WriteInPlace(target, text)
                      : CannotBeWritten(path, errno);
    }
    written = WriteAll(file, path, text);
  }
  if (written.ok() && rename(beside.c_str(), target.c_str()) != 0) {
    written = CannotBeWritten(path, errno);
  }
  if (!written.ok()) unlink(beside.c_str());
  return written;
}

}  // namespace gauntlet
