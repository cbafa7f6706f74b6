#include "engine/ckpt/protocol/store_deletion.h"

#include <algorithm>
#include <vector>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/retrying.h"
#include "engine/ckpt/protocol/ownership.h"
#include "engine/ckpt/protocol/removal.h"
#include "engine/ckpt/protocol/store_scan.h"
#include "engine/world/directories.h"

namespace gauntlet {
namespace {

// Deletes all checkpoints except `kept`, then all claims. The rename of each
// checkpoint is durable before its files are removed. So after a crash no
// checkpoint is left without the claims that fence it.
Status DeleteAllExcept(World& world, const std::string& directory,
                       const std::string& kept, uint64_t generation) {
  ASSIGN_OR_RETURN(const auto listed, world.storage.List(directory));
  std::vector<std::string> claims;
  for (const DirectoryEntry& entry : listed) {
    const EntryKind kind = ParseEntryName(entry.name).kind;
    const std::string path = directory + "/" + entry.name;
    if (kind == EntryKind::kOther || entry.name == kept) continue;
    if (kind == EntryKind::kClaim || kind == EntryKind::kClaimTmp) {
      // A directory with a claim's name was not created by a run: leaves it.
      if (entry.kind != FileKind::kDirectory) claims.push_back(path);
    } else if (kind == EntryKind::kCheckpoint) {
      RETURN_IF_ERROR(
          DeleteCheckpoint(world, directory, entry.name, generation));
    } else {
      RETURN_IF_ERROR(RemoveTree(world, path, entry.kind));
    }
  }
  for (const std::string& claim : claims) {
    RETURN_IF_ERROR(RemoveTree(world, claim, FileKind::kFile));
  }
  return world.storage.SyncDirectory(directory);
}

// Deletes the engine's entries of the directory. Deletes the newest checkpoint
// last, when all other deletions are durable. So no claim and no state file
// ever names a missing checkpoint. May be called again after an error: entries
// that are already deleted are no error.
Status DeleteContents(World& world, const std::string& directory,
                      const std::string& newest, uint64_t generation) {
  RETURN_IF_ERROR(RemoveTree(
      world, directory + "/" + std::string(kStateFileName), FileKind::kFile));
  RETURN_IF_ERROR(DeleteAllExcept(world, directory, newest, generation));
  if (newest.empty()) return OkStatus();
  const Status removed = DeleteCheckpoint(world, directory, newest, generation);
  if (removed.code() != Code::kNotFound) return removed;
  ASSIGN_OR_RETURN(const auto listed, world.storage.List(directory));
  const bool is_there = std::ranges::any_of(
      listed,
      [&](const DirectoryEntry& entry) { return entry.name == newest; });
  return is_there ? removed : OkStatus();
}

// Returns any error of a removal as kIoError, so that RetryOnDiskError retries
// it.
Status AsDiskError(const Status& removal) {
  return removal.ok() ? removal : IoError(removal.message());
}

}  // namespace

Status DeleteStore(World& world, const std::string& directory,
                   const std::optional<ClaimRecord>& owner) {
  RETURN_IF_ERROR(RetryOnDiskError(world, [&] {
    return AsDiskError(world.faults.Hit(Point::kBackupDelete, {}));
  }));
  const Result<StoreScan> scan =
      RetryOnDiskError(world, [&] { return ScanStore(world, directory); });
  if (scan.status().code() == Code::kNotFound) return OkStatus();
  RETURN_IF_ERROR(scan.status());
  if (owner) RETURN_IF_ERROR(CheckOwner(world, directory, *owner));
  world.events.Emit({.kind = EventKind::kDeleteBegin, .path = directory});
  std::string newest;
  if (!scan->lineage.members.empty()) {
    newest = scan->checkpoints[scan->lineage.members.front()].name;
  }
  RETURN_IF_ERROR(RetryOnDiskError(world, [&] {
    return AsDiskError(
        DeleteContents(world, directory, newest, scan->highest_claim));
  }));
  world.events.Emit({.kind = EventKind::kBackupDeleted, .path = directory});
  const Status removed = RetryOnDiskError(world, [&] {
    return world.storage.Remove(directory, FileKind::kDirectory);
  });
  // The directory still has entries that are not the engine's.
  if (removed.code() == Code::kAlreadyExists) return OkStatus();
  RETURN_IF_ERROR(removed);
  return world.storage.SyncDirectory(ParentDirectory(directory));
}

}  // namespace gauntlet
