#include "engine/ckpt/removal.h"

#include "engine/ckpt/store_names.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Nothing of the engine's is deeper than a file in a checkpoint.
constexpr int kMaxDepth = 4;

Status MissingIsFine(const Status& status) {
  return status.code() == Code::kNotFound ? OkStatus() : status;
}

Status RemoveOne(World& world, const std::string& path, FileKind kind) {
  RETURN_IF_ERROR(world.faults.Hit(Point::kRetireRemove, {}));
  return MissingIsFine(world.storage.Remove(path, kind));
}

Status RemoveTreeTo(World& world, const std::string& path, int depth) {
  if (depth == 0) return FailedPrecondition(path + ": too deep to remove");
  const auto entries = world.storage.List(path);
  if (!entries.ok()) return MissingIsFine(entries.status());
  for (const DirectoryEntry& entry : *entries) {
    const std::string child = path + "/" + entry.name;
    RETURN_IF_ERROR(entry.kind == FileKind::kDirectory
                        ? RemoveTreeTo(world, child, depth - 1)
                        : RemoveOne(world, child, entry.kind));
  }
  return RemoveOne(world, path, FileKind::kDirectory);
}

// The old name is gone for good before the first file is: a power cut must not
// bring it back with files missing. Whoever did the rename may not have come to
// the sync.
Status RemoveRenamed(World& world, const std::string& directory,
                     const std::string& path) {
  RETURN_IF_ERROR(world.storage.SyncDirectory(directory));
  return RemoveTree(world, path, FileKind::kDirectory);
}

}  // namespace

Status RemoveTree(World& world, const std::string& path, FileKind kind) {
  if (kind != FileKind::kDirectory) return RemoveOne(world, path, kind);
  return RemoveTreeTo(world, path, kMaxDepth);
}

Status RemoveCheckpoint(World& world, const std::string& directory,
                        const std::string& name) {
  const std::string from = directory + "/" + name;
  const std::string to =
      fmt::format("{}/{}{}", directory, kDeletingPrefix, name);
  RETURN_IF_ERROR(world.faults.Hit(Point::kRetireRename, {}));
  Status renamed = world.storage.Rename(from, to);
  if (renamed.code() == Code::kAlreadyExists) {
    // Of an earlier removal that was interrupted.
    RETURN_IF_ERROR(RemoveRenamed(world, directory, to));
    renamed = world.storage.Rename(from, to);
  }
  if (renamed.code() == Code::kNotFound) {
    // Taken before, and perhaps not removed to the end.
    RETURN_IF_ERROR(RemoveRenamed(world, directory, to));
  }
  RETURN_IF_ERROR(renamed);
  return RemoveRenamed(world, directory, to);
}

void EmitRejected(World& world, const std::string& path,
                  const std::string& reason) {
  world.events.Emit(
      {.kind = EventKind::kRejected, .path = path, .detail = reason});
}

Status SetAside(World& world, const std::string& directory,
                const std::string& name) {
  RETURN_IF_ERROR(world.faults.Hit(Point::kReject, {}));
  return world.storage.Rename(
      directory + "/" + name,
      fmt::format("{}/{}{}", directory, kRejectedPrefix, name));
}

}  // namespace gauntlet
