#include "harness/run/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

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
