// Names of files and directories, from the paths in events.
#ifndef GAUNTLET_HARNESS_RECORD_BASE_NAME_H_
#define GAUNTLET_HARNESS_RECORD_BASE_NAME_H_

#include <string_view>

namespace gauntlet {

// Returns the part after the last '/' of the path; all of it if it has no '/'.
inline std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// Suffix of the directory of a checkpoint that is being written.
inline constexpr std::string_view kBeingWritten = ".tmp";

// Returns the name of the checkpoint to which the file at this path belongs.
inline std::string_view CheckpointOfFile(std::string_view path) {
  std::string_view name = BaseName(path.substr(0, path.rfind('/')));
  if (name.ends_with(kBeingWritten)) name.remove_suffix(kBeingWritten.size());
  return name;
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_BASE_NAME_H_
