#include "engine/ckpt/protocol/removal.h"

#include <algorithm>
#include <functional>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/checkpoint_reader.h"
#include "engine/ckpt/protocol/ownership.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Maximum depth of a tree that is removed. The deepest entries of the engine
// are the files in a checkpoint.
constexpr int kMaxDepth = 4;

Status IgnoreNotFound(const Status& status) {
  return status.code() == Code::kNotFound ? OkStatus() : status;
}

Status RemoveEntry(World& world, const std::string& path, FileKind kind) {
  RETURN_IF_ERROR(world.faults.Hit(Point::kRetireRemove, {}));
  return IgnoreNotFound(world.storage.Remove(path, kind));
}

Status RemoveTreeToDepth(World& world, const std::string& path, int depth) {
  if (depth == 0) return FailedPrecondition(path + ": too deep to remove");
  const auto entries = world.storage.List(path);
  if (!entries.ok()) return IgnoreNotFound(entries.status());
  for (const DirectoryEntry& entry : *entries) {
    const std::string child = path + "/" + entry.name;
    RETURN_IF_ERROR(entry.kind == FileKind::kDirectory
                        ? RemoveTreeToDepth(world, child, depth - 1)
                        : RemoveEntry(world, child, entry.kind));
  }
  return RemoveEntry(world, path, FileKind::kDirectory);
}

// Removes the renamed directory `path`. Syncs the rename before the first file
// is removed: otherwise a power loss could bring back the old name with files
// missing. The process that renamed the directory may have died before it
// synced.
Status RemoveRenamed(World& world, const std::string& directory,
                     const std::string& path) {
  RETURN_IF_ERROR(world.storage.SyncDirectory(directory));
  return RemoveTree(world, path, FileKind::kDirectory);
}

// Returns Ok iff the claims show that the remover still owns the directory.
using OwnerCheck = std::function<Status()>;

OwnerCheck OwnerCheckFor(World& world, const std::string& directory,
                         const ClaimRecord& owner) {
  if (world.faults.Planted(PlantedBug::kRemoveWhileFenced)) {
    return [] { return OkStatus(); };
  }
  return [&] { return CheckOwner(world, directory, owner); };
}

// Called after the remover has renamed `name` to `away` and checked, with the
// result `checked`, that it still owns the directory. If the check failed,
// renames `away` back and returns the error.
Status UndoRenameUnless(World& world, const Status& checked,
                        const std::string& name, const std::string& away) {
  // kCancelled simulates a crash: nothing more may be changed.
  if (checked.ok() || checked.code() == Code::kCancelled) return checked;
  const Status undone = world.storage.Rename(away, name);
  // kNotFound: a newer generation has renamed `away` back, or continues the
  // removal.
  if (undone.ok() || undone.code() == Code::kNotFound) return checked;
  return undone.code() == Code::kCancelled ? undone : checked;
}

struct Removal {
  std::string directory;
  std::string name;
  uint64_t generation = 0;
};

Status Remove(World& world, const Removal& removal, const OwnerCheck& owns) {
  const std::string& directory = removal.directory;
  const std::string from = directory + "/" + removal.name;
  const std::string to =
      directory + "/" + DeletingName(removal.generation, removal.name);
  RETURN_IF_ERROR(owns());
  world.events.Emit({.kind = EventKind::kRetireBegin, .path = from});
  RETURN_IF_ERROR(world.faults.Hit(Point::kRetireRename, {}));
  Status renamed = world.storage.Rename(from, to);
  if (renamed.code() == Code::kAlreadyExists) {
    // `to` exists already: an earlier removal was interrupted.
    RETURN_IF_ERROR(RemoveRenamed(world, directory, to));
    renamed = world.storage.Rename(from, to);
  }
  if (renamed.code() == Code::kNotFound) {
    // An earlier removal renamed the checkpoint, and may not have deleted all
    // files.
    RETURN_IF_ERROR(owns());
    RETURN_IF_ERROR(RemoveRenamed(world, directory, to));
  }
  RETURN_IF_ERROR(renamed);
  Status checked = world.faults.Hit(Point::kRetireRenamed, {});
  if (checked.ok()) checked = owns();
  RETURN_IF_ERROR(UndoRenameUnless(world, checked, from, to));
  return RemoveRenamed(world, directory, to);
}

bool IsListed(const StoreScan& scan, const std::string& name) {
  return std::ranges::find(scan.entries, name, &ScannedEntry::name) !=
         scan.entries.end();
}

// Returns true iff a generation newer than the remover's has recorded the
// checkpoint as its parent.
bool IsNeeded(const EntryName& taken, const StoreScan& scan) {
  const std::string name = NameBeforeDeletion(taken);
  return std::ranges::any_of(scan.parents, [&](const auto& claim) {
    const auto& [generation, parent] = claim;
    return generation > taken.removed_by && parent && parent->name == name;
  });
}

}  // namespace

Status RemoveTree(World& world, const std::string& path, FileKind kind) {
  if (kind != FileKind::kDirectory) return RemoveEntry(world, path, kind);
  return RemoveTreeToDepth(world, path, kMaxDepth);
}

Status RemoveCheckpoint(World& world, const std::string& directory,
                        const std::string& name, const ClaimRecord& owner) {
  return Remove(
      world,
      {.directory = directory, .name = name, .generation = owner.generation},
      OwnerCheckFor(world, directory, owner));
}

Status DeleteCheckpoint(World& world, const std::string& directory,
                        const std::string& name, uint64_t generation) {
  return Remove(
      world, {.directory = directory, .name = name, .generation = generation},
      [] { return OkStatus(); });
}

Status FinishRemoval(World& world, const std::string& directory,
                     const StoreScan& scan, const ScannedEntry& entry,
                     const ClaimRecord& owner) {
  const std::string from = directory + "/" + entry.name;
  const std::string name = NameBeforeDeletion(entry.parsed);
  const std::string to = directory + "/" + DeletingName(owner.generation, name);
  if (entry.kind != FileKind::kDirectory || from == to) {
    return RemoveTree(world, from, entry.kind);
  }
  Status taken = world.storage.Rename(from, to);
  if (taken.code() == Code::kAlreadyExists) {
    RETURN_IF_ERROR(RemoveTree(world, to, FileKind::kDirectory));
    taken = world.storage.Rename(from, to);
  }
  if (taken.code() == Code::kNotFound && !IsListed(scan, name)) {
    return RemoveCheckpoint(world, directory, name, owner);
  }
  RETURN_IF_ERROR(taken);
  return RemoveTree(world, to, FileKind::kDirectory);
}

Result<bool> UndoStaleRemovals(World& world, const std::string& directory,
                               const StoreScan& scan, uint64_t generation,
                               const std::set<std::string>& listed) {
  bool any = false;
  for (const ScannedEntry& entry : scan.entries) {
    const EntryName& taken = entry.parsed;
    if (taken.kind != EntryKind::kDeleting || taken.was_rejected ||
        taken.removed_by == 0 || taken.removed_by >= generation) {
      continue;
    }
    const std::string name = NameBeforeDeletion(taken);
    if (IsListed(scan, name)) continue;
    if (!listed.contains(name) && !IsNeeded(taken, scan)) continue;
    const std::string from = directory + "/" + entry.name;
    const Status verified = VerifyCheckpoint(world, from);
    if (verified.code() == Code::kDataLoss ||
        verified.code() == Code::kFailedPrecondition) {
      continue;
    }
    Status renamed = verified;
    if (renamed.ok()) {
      renamed = world.storage.Rename(from, directory + "/" + name);
    }
    // kNotFound: meanwhile the remover has deleted it or renamed it back.
    if (!renamed.ok() && renamed.code() != Code::kNotFound) return renamed;
    any = true;
  }
  return any;
}

void EmitRejected(World& world, const std::string& path,
                  const std::string& reason) {
  world.events.Emit(
      {.kind = EventKind::kRejected, .path = path, .detail = reason});
}

Status SetAside(World& world, const std::string& directory,
                const std::string& name, const ClaimRecord& owner) {
  const OwnerCheck owns = OwnerCheckFor(world, directory, owner);
  const std::string from = directory + "/" + name;
  const std::string to =
      fmt::format("{}/{}{}", directory, kRejectedPrefix, name);
  RETURN_IF_ERROR(owns());
  world.events.Emit({.kind = EventKind::kRejectBegin, .path = from});
  RETURN_IF_ERROR(world.faults.Hit(Point::kReject, {}));
  RETURN_IF_ERROR(world.storage.Rename(from, to));
  return UndoRenameUnless(world, owns(), from, to);
}

}  // namespace gauntlet
