// A directory as text, for comparison: names, types, modes, contents, and which
// names are links to the same file.
#ifndef GAUNTLET_TESTS_CHAOS_TRACE_DIRECTORY_TEXT_H_
#define GAUNTLET_TESTS_CHAOS_TRACE_DIRECTORY_TEXT_H_

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "engine/digest.h"
#include <fmt/format.h>
#include <sys/stat.h>

namespace gauntlet {

inline std::string ContentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string DirectoryText(const std::string& directory) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    names.push_back(entry.path().lexically_relative(directory).string());
  std::sort(names.begin(), names.end());
  std::map<ino_t, std::string> first_names;
  std::string text;
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    struct stat status = {};
    lstat(path.c_str(), &status);
    const unsigned mode = status.st_mode & 07777U;
    if (S_ISLNK(status.st_mode)) {
      text += fmt::format("{} -> {}\n", name, fs::read_symlink(path).string());
    } else if (S_ISDIR(status.st_mode)) {
      text += fmt::format("{}/ {:o}\n", name, mode);
    } else {
      const auto first = first_names.emplace(status.st_ino, name).first->second;
      text += fmt::format("{} {:o} {} bytes {} same as {}\n", name, mode,
                          status.st_size, DigestOf(ContentsOf(path)).Short(),
                          first);
    }
  }
  return text;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_TRACE_DIRECTORY_TEXT_H_
