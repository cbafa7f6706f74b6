#include "engine/cli/output_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "engine/world/directories.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {

Status CheckFileName(const std::string& file) {
  if (file != "-") return OkStatus();
  return InvalidArgument(
      "expected the name of a file, found '-' (for a file of that name: ./-)");
}

Status CheckFolderOf(const std::string& file) {
  const std::string parent = ParentDirectory(file);
  if (access(parent.c_str(), F_OK) == 0 || errno != ENOENT) return OkStatus();
  return IoError(fmt::format("{}: there is no folder {}", file, parent));
}

Status CheckOutputFile(const std::string& file) {
  if (file.empty()) return OkStatus();
  RETURN_IF_ERROR(CheckFileName(file));
  RETURN_IF_ERROR(CheckFolderOf(file));
  const std::string parent = ParentDirectory(file);
  const bool is_there = access(file.c_str(), F_OK) == 0;
  const std::string& written = is_there ? file : parent;
  if (access(written.c_str(), is_there ? W_OK : W_OK | X_OK) != 0) {
    return IoError(
        fmt::format("{}: {}", file, std::generic_category().message(errno)));
  }
  std::error_code error;
  const std::filesystem::file_status found =
      std::filesystem::status(file, error);
  if (std::filesystem::is_directory(found)) {
    return IoError(fmt::format("{}: expected a file, found a folder", file));
  }
  // Refuses a pipe, which would block until something reads it. /dev/null and
  // terminals never block.
  if (!is_there || std::filesystem::is_regular_file(found) ||
      std::filesystem::is_character_file(found)) {
    return OkStatus();
  }
  return IoError(fmt::format("{}: expected a regular file", file));
}

}  // namespace gauntlet
