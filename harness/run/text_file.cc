#include "harness/run/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "engine/real/descriptor.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {

std::string ReadTextFile(const std::filesystem::path& path) {
  constexpr size_t kMaxFileBytes = size_t{256} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char block[65536];
  while (text.size() < kMaxFileBytes && file) {
    file.read(block, sizeof(block));
    text.append(block, static_cast<size_t>(file.gcount()));
  }
  return text;
}

Status WriteNewTextFile(const std::filesystem::path& path,
                        std::string_view text) {
  const auto failed = [&path](int error) {
    return IoError(fmt::format("{}: cannot be written: {}", path.string(),
                               std::strerror(error)));
  };
  Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid() && errno == EEXIST) {
    return AlreadyExists(path.string() + ": there is one already");
  }
  if (!file.valid()) return failed(errno);
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      unlink(path.c_str());
      return failed(error);
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
  if (!file) {
    return IoError(fmt::format("{}: cannot be written: {}", path.string(),
                               std::strerror(errno)));
  }
  return OkStatus();
}

}  // namespace gauntlet
