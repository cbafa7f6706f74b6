#include "chaos/inject/faulty_storage.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

using Bytes = std::span<const std::byte>;

// Writes the blocks in `with.keep`; the other bytes of the range stay
// unchanged.
Status WriteKeptBlocks(File& file, uint64_t offset, Bytes bytes,
                       const FaultParameters& with) {
  const auto blocks = static_cast<uint64_t>(with.blocks);
  const uint64_t quotient = bytes.size() / blocks;
  const uint64_t remainder = bytes.size() % blocks;
  // Start of block i: i * size / blocks, without overflow.
  const auto begin = [&](uint64_t i) {
    return i * quotient + i * remainder / blocks;
  };
  for (uint64_t i = 0; i < blocks; ++i) {
    if ((with.keep >> i & 1) == 0) continue;
    const Bytes block = bytes.subspan(begin(i), begin(i + 1) - begin(i));
    RETURN_IF_ERROR(file.WriteAt(offset + begin(i), block));
  }
  return OkStatus();
}

}  // namespace

class FaultyStorage::FaultyFile final : public File {
 public:
  FaultyFile(FaultyStorage& storage, std::string path,
             std::unique_ptr<File> base)
      : storage_(storage), path_(std::move(path)), base_(std::move(base)) {}

  Status WriteAt(uint64_t offset, Bytes bytes) override {
    uint64_t landed = 0;
    while (const auto armed = TakeForWrite(offset, bytes)) {
      const FaultKind kind = armed->fault->kind;
      if (InfoOf(kind).effects.damages_file) {
        // The fault damages this file once, even if it is due at several of its
        // writes.
        if (std::ranges::find(at_rest_, armed->state,
                              &Injector::Armed::state) == at_rest_.end()) {
          at_rest_.push_back(*armed);
        }
      } else if (kind == FaultKind::kFsyncFails) {
        // The fault has an offset, and this write reaches it. From now on the
        // fault waits for a sync.
        storage_.injector_.Rearm({.state = armed->state,
                                  .fault = armed->fault,
                                  .point = armed->point});
      } else if (kind == FaultKind::kTornWrite) {
        if (!FireTear(*armed)) continue;
        return Tear(*armed->fault, offset, bytes);
      } else if (kind == FaultKind::kShortWrite) {
        if (!storage_.injector_.Fire(*armed)) continue;
        return CutShort(*armed, offset, bytes);
      } else {
        const uint64_t cut = std::max(landed, armed->offset.value_or(0));
        RETURN_IF_ERROR(Write(offset, bytes, landed, cut));
        landed = cut;
        RETURN_IF_ERROR(Annotate(storage_.injector_.Perform(*armed), path_));
      }
    }
    if (landed == 0) return base_->WriteAt(offset, bytes);
    return Write(offset, bytes, landed, bytes.size());
  }

  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> bytes) override {
    RETURN_IF_ERROR(storage_.Before(StorageOperation::kRead, path_));
    return base_->ReadAt(offset, bytes);
  }

  Result<uint64_t> Size() override {
    RETURN_IF_ERROR(storage_.Before(StorageOperation::kRead, path_));
    return base_->Size();
  }

  Status Sync() override {
    if (undurable_) return OkStatus();
    if (const auto armed = TakeForSync()) {
      // A fault that is exhausted by now does not affect the sync.
      if (armed->fault->kind == FaultKind::kErrno) {
        RETURN_IF_ERROR(Annotate(storage_.injector_.Perform(*armed), path_));
      } else if (storage_.injector_.Fire(*armed)) {
        undurable_ = true;
        storage_.SetUndurable(path_);
        return IoError(path_ + ": sync: injected EIO");
      }
    }
    if (storage_.IsUndurable(path_)) return OkStatus();
    RETURN_IF_ERROR(base_->Sync());
    for (const Injector::Armed& armed : std::exchange(at_rest_, {})) {
      storage_.Damage(armed, path_);
    }
    return OkStatus();
  }

 private:
  std::optional<Injector::Armed> TakeForSync() {
    if (!storage_.injector_.AnyArmed()) return std::nullopt;
    return storage_.injector_.Take(StorageOperation::kSync);
  }

  std::optional<Injector::Armed> TakeForWrite(uint64_t offset, Bytes bytes) {
    if (!storage_.injector_.AnyArmed()) return std::nullopt;
    return storage_.injector_.TakeForWrite(
        {.offset = offset, .size = bytes.size()});
  }

  // Writes bytes [from, to) of a write at `offset`.
  Status Write(uint64_t offset, Bytes bytes, uint64_t from, uint64_t to) {
    if (from == to) return OkStatus();
    return base_->WriteAt(offset + from, bytes.subspan(from, to - from));
  }

  // Fires the torn write; the result is that of Injector::Fire. Logs the file
  // as damaged only if the process survives: a process that ends here never
  // acknowledges the file.
  bool FireTear(const Injector::Armed& armed) {
    Injector& injector = storage_.injector_;
    return armed.fault->with.then == AfterTear::kNothing
               ? injector.FireAtFile(armed, path_)
               : injector.Fire(armed);
  }

  Status Tear(const Fault& fault, uint64_t offset, Bytes bytes) {
    RETURN_IF_ERROR(WriteKeptBlocks(*base_, offset, bytes, fault.with));
    // Syncs the written blocks, so that they survive the power loss.
    if (fault.with.then == AfterTear::kPowerLoss) {
      RETURN_IF_ERROR(base_->Sync());
    }
    storage_.injector_.FinishTear(fault);
    return OkStatus();
  }

  Status CutShort(const Injector::Armed& armed, uint64_t offset, Bytes bytes) {
    const uint64_t landing = armed.offset.value_or(0) + armed.fault->with.bytes;
    RETURN_IF_ERROR(Write(offset, bytes, 0, landing));
    return IoError(fmt::format("{}: write: injected: {} of {} bytes landed",
                               path_, landing, bytes.size()));
  }

  FaultyStorage& storage_;
  const std::string path_;
  const std::unique_ptr<File> base_;
  bool undurable_ = false;
  std::vector<Injector::Armed> at_rest_;  // damage the file once it is synced
};

FaultyStorage::FaultyStorage(Storage& base, Injector& injector)
    : base_(base), injector_(injector) {}

Result<std::unique_ptr<File>> FaultyStorage::Open(const std::string& path,
                                                  OpenMode mode) {
  RETURN_IF_ERROR(Before(mode == OpenMode::kRead
                             ? StorageOperation::kRead
                             : StorageOperation::kOpenToWrite,
                         path));
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, base_.Open(path, mode));
  if (mode == OpenMode::kCreateExclusive || mode == OpenMode::kCreateTruncate) {
    ForgetUndurable(path);
  }
  return std::unique_ptr<File>(
      std::make_unique<FaultyFile>(*this, path, std::move(file)));
}

Result<std::unique_ptr<File>> FaultyStorage::CreatePrivate(
    const std::string& path) {
  RETURN_IF_ERROR(Before(StorageOperation::kOpenToWrite, path));
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, base_.CreatePrivate(path));
  ForgetUndurable(path);
  return std::unique_ptr<File>(
      std::make_unique<FaultyFile>(*this, path, std::move(file)));
}

Result<std::unique_ptr<File>> FaultyStorage::OpenPrivate(
    const std::string& path) {
  RETURN_IF_ERROR(Before(StorageOperation::kRead, path));
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, base_.OpenPrivate(path));
  return std::unique_ptr<File>(
      std::make_unique<FaultyFile>(*this, path, std::move(file)));
}

Result<std::vector<DirectoryEntry>> FaultyStorage::List(
    const std::string& path) {
  return base_.List(path);
}

Status FaultyStorage::MakeDirectory(const std::string& path) {
  return base_.MakeDirectory(path);
}

Status FaultyStorage::Rename(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(Before(StorageOperation::kRename, from));
  RETURN_IF_ERROR(base_.Rename(from, to));
  MoveUndurable(from, to);
  return OkStatus();
}

Status FaultyStorage::RenameToNew(const std::string& from,
                                  const std::string& to) {
  RETURN_IF_ERROR(Before(StorageOperation::kRename, from));
  RETURN_IF_ERROR(base_.RenameToNew(from, to));
  MoveUndurable(from, to);
  return OkStatus();
}

Status FaultyStorage::Remove(const std::string& path, FileKind kind) {
  RETURN_IF_ERROR(Before(StorageOperation::kRemove, path));
  RETURN_IF_ERROR(base_.Remove(path, kind));
  ForgetUndurable(path);
  return OkStatus();
}

Status FaultyStorage::SyncDirectory(const std::string& path) {
  RETURN_IF_ERROR(Before(StorageOperation::kSyncDirectory, path));
  return base_.SyncDirectory(path);
}

Result<std::unique_ptr<FileLock>> FaultyStorage::Lock(const std::string& path) {
  return base_.Lock(path);
}

Result<std::string> FaultyStorage::RealPath(const std::string& path) {
  return base_.RealPath(path);
}

Result<uint64_t> FaultyStorage::FreeBytes(const std::string& path) {
  return base_.FreeBytes(path);
}

Status FaultyStorage::Before(StorageOperation operation,
                             const std::string& path) {
  if (!injector_.AnyArmed()) return OkStatus();
  const std::optional<Injector::Armed> armed = injector_.Take(operation);
  if (!armed) return OkStatus();
  const FaultKind kind = armed->fault->kind;
  if (InfoOf(kind).effects.damages_file) {
    Damage(*armed, path);
    return OkStatus();
  }
  if (kind == FaultKind::kFsyncFails) {
    if (!injector_.Fire(*armed)) return OkStatus();
    return IoError(path + ": sync of the directory: injected EIO");
  }
  return Annotate(injector_.Perform(*armed), path);
}

void FaultyStorage::Damage(const Injector::Armed& armed,
                           const std::string& path) {
  Status status;
  switch (armed.fault->kind) {
    case FaultKind::kBitFlip:
      status = FlipBit(armed, path);
      break;
    case FaultKind::kTruncate:
      status = Truncate(armed, path);
      break;
    default:
      status = Delete(armed, path);
  }
  // The fault waits for the next file; if none comes, the record shows that it
  // never fired.
  if (!status.ok()) injector_.Rearm(armed);
}

Status FaultyStorage::FlipBit(const Injector::Armed& armed,
                              const std::string& path) {
  const FaultParameters& with = armed.fault->with;
  ASSIGN_OR_RETURN(const auto file, base_.Open(path, OpenMode::kReadWrite));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  uint64_t offset = with.offset.In(size);
  // 100 % is the last byte.
  if (with.offset.unit == OffsetUnit::kPercent && size > 0) {
    offset = std::min(offset, size - 1);
  }
  if (offset >= size) {
    return FailedPrecondition(path + ": no byte at that offset");
  }
  std::byte byte{};
  ASSIGN_OR_RETURN(const size_t read, file->ReadAt(offset, {&byte, 1}));
  if (read != 1) return DataLoss(path + ": shorter than its size");
  if (!injector_.FireAtFile(armed, path)) return OkStatus();
  byte ^= std::byte{1} << with.bit;
  RETURN_IF_ERROR(file->WriteAt(offset, {&byte, 1}));
  return file->Sync();
}

Status FaultyStorage::Truncate(const Injector::Armed& armed,
                               const std::string& path) {
  std::string kept;
  {
    ASSIGN_OR_RETURN(const auto file, base_.Open(path, OpenMode::kRead));
    ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    const uint64_t left = armed.fault->with.offset.In(size);
    if (left >= size) return FailedPrecondition(path + ": not that long");
    kept.resize(left);
    ASSIGN_OR_RETURN(const size_t read,
                     file->ReadAt(0, std::as_writable_bytes(std::span(kept))));
    if (read != left) return DataLoss(path + ": shorter than its size");
  }
  if (!injector_.FireAtFile(armed, path)) return OkStatus();
  ASSIGN_OR_RETURN(const auto file,
                   base_.Open(path, OpenMode::kCreateTruncate));
  RETURN_IF_ERROR(file->WriteAt(0, std::as_bytes(std::span(kept))));
  return file->Sync();
}

Status FaultyStorage::Delete(const Injector::Armed& armed,
                             const std::string& path) {
  RETURN_IF_ERROR(base_.Open(path, OpenMode::kRead).status());
  if (!injector_.FireAtFile(armed, path)) return OkStatus();
  return base_.Remove(path, FileKind::kFile);
}

bool FaultyStorage::IsUndurable(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return undurable_.contains(path);
}

void FaultyStorage::SetUndurable(const std::string& path) {
  const std::lock_guard lock(mutex_);
  undurable_.insert(path);
}

void FaultyStorage::ForgetUndurable(const std::string& path) {
  const std::lock_guard lock(mutex_);
  undurable_.erase(path);
}

void FaultyStorage::MoveUndurable(const std::string& from,
                                  const std::string& to) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> moved;
  for (const std::string& path : undurable_) {
    if (path == to) continue;  // replaced
    const bool inside = path == from || path.starts_with(from + "/");
    moved.insert(inside ? to + path.substr(from.size()) : path);
  }
  undurable_ = std::move(moved);
}

}  // namespace gauntlet
