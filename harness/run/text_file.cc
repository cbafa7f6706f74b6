#include "harness/run/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

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
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      unlink(path.c_str());
      return CannotBeWritten(path, error);
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status WriteTextFile(const std::filesystem::path& path,
                     const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? OkStatus() : CannotBeWritten(path, errno);
}

}  // namespace gauntlet
