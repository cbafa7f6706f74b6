#include "chaos/sim/disk/sim_storage.h"

#include <algorithm>
#include <utility>

#include "engine/digest.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

enum : uint64_t { kOpen = 1, kMake, kRename, kRemove, kSyncDir, kSync, kLock };

uint64_t Hash(std::string_view bytes) { return ShortDigestOf(bytes); }

}  // namespace

class SimFile final : public File {
 public:
  SimFile(SimStorage& storage, std::shared_ptr<Inode> inode, std::string path,
          OpenMode mode)
      : storage_(storage),
        inode_(std::move(inode)),
        path_(std::move(path)),
        mode_(mode) {}
  // Runs even when the process is killed: the system closes its files.
  ~SimFile() override {
    if (storage_.user_.view != nullptr) storage_.user_.view->Close(inode_);
  }

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    RETURN_IF_ERROR(storage_.Begin("writes", path_, bytes.size()));
    if (mode_ == OpenMode::kRead) {
      return IoError(fmt::format("write {}: opened for reading only", path_));
    }
    storage_.scheduler_.Record(offset);
    Status written;
    if (storage_.user_.view != nullptr) {
      storage_.user_.view->Write(inode_, offset, bytes);
    } else {
      written = storage_.disk_.Write(*inode_, offset, bytes);
    }
    if (!written.ok()) written = Annotate(written, "write " + path_);
    return storage_.Recorded(ShortDigestOf(bytes), path_, std::move(written));
  }

  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> bytes) override {
    RETURN_IF_ERROR(storage_.Begin("reads", path_, bytes.size()));
    const SharedView* const view = storage_.user_.view;
    return view != nullptr ? view->Read(inode_, offset, bytes)
                           : storage_.disk_.Read(*inode_, offset, bytes);
  }

  Result<uint64_t> Size() override {
    RETURN_IF_ERROR(storage_.Begin("asks for the size of", path_, 0));
    const SharedView* const view = storage_.user_.view;
    return view != nullptr ? view->Size(inode_) : uint64_t{inode_->data.size()};
  }

  Status Sync() override {
    RETURN_IF_ERROR(storage_.BeginSync(path_));
    Status synced;
    if (storage_.user_.view != nullptr) {
      synced = storage_.user_.view->Sync(inode_);
    } else {
      storage_.disk_.Sync(*inode_);
    }
    if (!synced.ok()) synced = Annotate(synced, "sync " + path_);
    return storage_.Recorded(kSync, path_, std::move(synced));
  }

 private:
  SimStorage& storage_;
  std::shared_ptr<Inode> inode_;
  std::string path_;
  OpenMode mode_;
};

class SimFileLock final : public FileLock {
 public:
  SimFileLock(SimStorage& storage, std::shared_ptr<Inode> inode)
      : storage_(storage), inode_(std::move(inode)) {}
  ~SimFileLock() override {
    if (!storage_.gone()) storage_.Release(inode_);
  }

 private:
  SimStorage& storage_;
  std::shared_ptr<Inode> inode_;
};

SimStorage::SimStorage(Scheduler& scheduler, SimDisk& disk,
                       const StorageLatency& latency, RandomStream random,
                       StorageUser user)
    : scheduler_(scheduler),
      disk_(disk),
      latency_(latency),
      random_(random),
      user_(user) {}

Status SimStorage::Begin(const char* verb, const std::string& path,
                         uint64_t bytes) {
  if (user_.group == nullptr) return OkStatus();
  const auto transfer =
      static_cast<int64_t>(static_cast<double>(bytes) * 1e9 /
                           static_cast<double>(latency_.bytes_per_second));
  return Spend(verb, path,
               latency_.operation.Draw(random_) + Duration(transfer));
}

Status SimStorage::BeginSync(const std::string& path) {
  if (user_.group == nullptr) return OkStatus();
  return Spend("syncs", path, latency_.sync.Draw(random_));
}

Status SimStorage::Spend(const char* verb, const std::string& path,
                         Duration duration) {
  if (!gone()) {
    scheduler_.Wait(nullptr, scheduler_.now() + duration,
                    {.verb = verb, .what = &path});
  }
  if (gone()) return IoError(fmt::format("{}: the process is gone", path));
  disk_.StampTime(scheduler_.now());
  return OkStatus();
}

Status SimStorage::Recorded(uint64_t word, const std::string& path,
                            Status status) {
  scheduler_.Record(word ^ Hash(path));
  scheduler_.Record(static_cast<uint64_t>(status.code()));
  return status;
}

Result<std::unique_ptr<File>> SimStorage::Open(const std::string& path,
                                               OpenMode mode) {
  RETURN_IF_ERROR(Begin("opens", path, 0));
  Result<std::shared_ptr<Inode>> inode =
      user_.view != nullptr ? user_.view->Open(path, mode, scheduler_.now())
                            : disk_.Open(path, mode);
  RETURN_IF_ERROR(Recorded(kOpen + (static_cast<uint64_t>(mode) << 8), path,
                           inode.status()));
  return std::unique_ptr<File>(
      std::make_unique<SimFile>(*this, *std::move(inode), path, mode));
}

Result<std::vector<DirectoryEntry>> SimStorage::List(const std::string& path) {
  RETURN_IF_ERROR(Begin("lists", path, 0));
  return user_.view != nullptr ? user_.view->List(path, scheduler_.now())
                               : disk_.List(path);
}

Status SimStorage::MakeDirectory(const std::string& path) {
  RETURN_IF_ERROR(Begin("makes", path, 0));
  return Recorded(kMake, path,
                  user_.view != nullptr ? user_.view->MakeDirectory(path)
                                        : disk_.MakeDirectory(path));
}

Status SimStorage::Rename(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(Begin("renames", from, 0));
  return Recorded(kRename ^ Hash(to), from,
                  user_.view != nullptr ? user_.view->Rename(from, to)
                                        : disk_.Rename(from, to));
}

Status SimStorage::RenameToNew(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(Begin("renames", from, 0));
  // Asks the disk itself: this host's view may not yet list a name that another
  // host created. No other fiber runs between this check and the rename.
  const Status there = disk_.Open(to, OpenMode::kRead).status();
  if (there.code() != Code::kNotFound) {
    return Recorded(kRename ^ Hash(to), from,
                    AlreadyExists(fmt::format("rename {}: exists", to)));
  }
  return Recorded(kRename ^ Hash(to), from,
                  user_.view != nullptr ? user_.view->Rename(from, to)
                                        : disk_.Rename(from, to));
}

Status SimStorage::Remove(const std::string& path, FileKind kind) {
  RETURN_IF_ERROR(Begin("removes", path, 0));
  return Recorded(kRemove, path,
                  user_.view != nullptr ? user_.view->Remove(path, kind)
                                        : disk_.Remove(path, kind));
}

Status SimStorage::SyncDirectory(const std::string& path) {
  RETURN_IF_ERROR(BeginSync(path));
  return Recorded(kSyncDir, path, disk_.SyncDirectory(path));
}

Result<std::unique_ptr<FileLock>> SimStorage::Lock(const std::string& path) {
  RETURN_IF_ERROR(Begin("locks", path, 0));
  Result<std::shared_ptr<Inode>> inode = disk_.Open(path, OpenMode::kReadWrite);
  if (!inode.ok() && inode.status().code() == Code::kNotFound) {
    inode = disk_.Open(path, OpenMode::kCreateExclusive);
  }
  RETURN_IF_ERROR(inode.status());
  std::vector<int>& holders = (*inode)->lock_holders;
  if (!holders.empty()) {
    return Recorded(kLock, path,
                    AlreadyExists(fmt::format("lock {}: held by process {}",
                                              path, holders.front())));
  }
  holders.push_back(user_.process);
  locked_.push_back(*inode);
  RETURN_IF_ERROR(Recorded(kLock, path, OkStatus()));
  return std::unique_ptr<FileLock>(
      std::make_unique<SimFileLock>(*this, *std::move(inode)));
}

// Takes no time, as the result is only for messages to people.
Result<uint64_t> SimStorage::FreeBytes(const std::string& path) {
  if (gone()) return IoError(fmt::format("{}: the process is gone", path));
  const uint64_t capacity = disk_.options().capacity_bytes;
  return capacity - std::min(capacity, disk_.used_bytes());
}

void SimStorage::InheritLocks(const SimStorage& parent) {
  for (const std::shared_ptr<Inode>& inode : parent.locked_) {
    inode->lock_holders.push_back(user_.process);
    locked_.push_back(inode);
  }
}

void SimStorage::Release(const std::shared_ptr<Inode>& inode) {
  std::erase(inode->lock_holders, user_.process);
  std::erase(locked_, inode);
}

void SimStorage::ReleaseLocks() {
  while (!locked_.empty()) {
    const std::shared_ptr<Inode> inode = locked_.back();
    Release(inode);
  }
}

}  // namespace gauntlet
