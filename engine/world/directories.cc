#include "engine/world/directories.h"

#include <algorithm>

#include "engine/utf8.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// PATH_MAX, less the longest name of a file below a directory.
constexpr size_t kMaxPathBytes = 4096 - 256;
constexpr size_t kMaxNameBytes = 255;  // NAME_MAX
constexpr size_t kMaxShownBytes = 60;

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

size_t LongestName(std::string_view path) {
  size_t longest = 0;
  while (!path.empty()) {
    const size_t size = std::min(path.find('/'), path.size());
    longest = std::max(longest, size);
    path.remove_prefix(std::min(size + 1, path.size()));
  }
  return longest;
}

Status PathError(std::string_view expected, std::string_view path) {
  const std::string shown = EscapeBytes(path.substr(0, kMaxShownBytes));
  return InvalidArgument(fmt::format("expected a path {}, found '{}{}'",
                                     expected, shown,
                                     path.size() > kMaxShownBytes ? "…" : ""));
}

}  // namespace

Status CheckPath(std::string_view path) {
  if (!IsUtf8(path)) return PathError("in UTF-8", path);
  if (std::ranges::any_of(path, IsControl)) {
    return PathError("without control characters", path);
  }
  if (path.size() > kMaxPathBytes) {
    return PathError(fmt::format("of at most {} bytes", kMaxPathBytes), path);
  }
  if (LongestName(path) > kMaxNameBytes) {
    return PathError(
        fmt::format("whose names have at most {} bytes each", kMaxNameBytes),
        path);
  }
  return OkStatus();
}

std::string ParentDirectory(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string WithoutLastSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Status MakeDurableDirectory(Storage& storage, const std::string& path) {
  const std::string parent = ParentDirectory(path);
  Status made = storage.MakeDirectory(path);
  if (made.code() == Code::kNotFound && parent != path) {
    RETURN_IF_ERROR(MakeDurableDirectory(storage, parent));
    made = storage.MakeDirectory(path);
  }
  if (!made.ok() && made.code() != Code::kAlreadyExists) return made;
  return storage.SyncDirectory(parent);
}

}  // namespace gauntlet
