// Components of paths on simulated disks, and errors of operations on paths.
#ifndef GAUNTLET_CHAOS_SIM_DISK_PATH_PARTS_H_
#define GAUNTLET_CHAOS_SIM_DISK_PATH_PARTS_H_

#include <algorithm>
#include <string_view>

#include "engine/status.h"
#include <fmt/format.h>

namespace gauntlet {

// Removes the next component from the front and returns it, skipping empty ones
// and "."; "" at the end.
inline std::string_view NextPart(std::string_view& path) {
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (!part.empty() && part != ".") return part;
  }
  return {};
}

inline Status Refuse(Code code, std::string_view operation,
                     std::string_view path, std::string_view why) {
  return Status(code, fmt::format("{} {}: {}", operation, path, why));
}

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_PATH_PARTS_H_
