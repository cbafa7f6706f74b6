#include "chaos/sim/disk/disk_log.h"

#include "chaos/sim/disk/sim_disk.h"
#include <fmt/format.h>

namespace gauntlet {

std::string DescribeMicroOp(const MicroOp& operation) {
  const std::string& path = operation.path;
  switch (operation.kind) {
    case MicroOpKind::kCreate:
      return "create " + path;
    case MicroOpKind::kMakeDirectory:
      return "mkdir " + path;
    case MicroOpKind::kWrite:
      return fmt::format("write [{}, {}) of {}", operation.offset,
                         operation.offset + operation.data.size(), path);
    case MicroOpKind::kEmpty:
      return "truncate " + path;
    case MicroOpKind::kRename:
      return fmt::format("rename {} to {}", path, operation.to);
    case MicroOpKind::kRemoveFile:
      return "remove " + path;
    case MicroOpKind::kRemoveDirectory:
      return "rmdir " + path;
    case MicroOpKind::kSync:
      return "sync " + path;
    case MicroOpKind::kSyncDirectory:
      return "sync directory " + path;
  }
  return path;
}

Result<std::shared_ptr<Inode>> DiskReplay::FileOf(
    const MicroOp& operation) const {
  const auto file = files_.find(operation.inode);
  if (file == files_.end()) {
    return NotFound(fmt::format("no file has the number {}", operation.inode));
  }
  return file->second;
}

Status DiskReplay::TryPlay(const MicroOp& operation) {
  switch (operation.kind) {
    case MicroOpKind::kCreate: {
      ASSIGN_OR_RETURN(auto file,
                       disk_.Open(operation.path, OpenMode::kCreateExclusive));
      files_[operation.inode] = std::move(file);
      return OkStatus();
    }
    case MicroOpKind::kMakeDirectory:
      return disk_.MakeDirectory(operation.path);
    case MicroOpKind::kWrite: {
      ASSIGN_OR_RETURN(const auto file, FileOf(operation));
      return disk_.Write(*file, operation.offset,
                         std::as_bytes(std::span(operation.data)));
    }
    case MicroOpKind::kEmpty:
      return disk_.Open(operation.path, OpenMode::kCreateTruncate).status();
    case MicroOpKind::kRename:
      return disk_.Rename(operation.path, operation.to);
    case MicroOpKind::kRemoveFile:
      return disk_.Remove(operation.path, FileKind::kFile);
    case MicroOpKind::kRemoveDirectory:
      return disk_.Remove(operation.path, FileKind::kDirectory);
    case MicroOpKind::kSync: {
      ASSIGN_OR_RETURN(const auto file, FileOf(operation));
      disk_.Sync(*file);
      return OkStatus();
    }
    case MicroOpKind::kSyncDirectory:
      return disk_.SyncDirectory(operation.path);
  }
  return OkStatus();
}

Status DiskReplay::Play(const MicroOp& operation) {
  const Status played = TryPlay(operation);
  if (played.ok()) return played;
  return FailedPrecondition(fmt::format("{}: cannot be played again: {}",
                                        DescribeMicroOp(operation),
                                        played.message()));
}

}  // namespace gauntlet
