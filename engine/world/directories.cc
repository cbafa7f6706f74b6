#include "engine/world/directories.h"

namespace gauntlet {

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
