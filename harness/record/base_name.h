// Names of files and directories in the paths of events.
#ifndef GAUNTLET_HARNESS_RECORD_BASE_NAME_H_
#define GAUNTLET_HARNESS_RECORD_BASE_NAME_H_

#include <string_view>

namespace gauntlet {

// Returns what follows the last '/' of the path; all of it if there is none.
inline std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_BASE_NAME_H_
