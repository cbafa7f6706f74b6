#include "engine/real/storage/posix_storage.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/high_descriptor.h"
#include "engine/real/posix/posix_status.h"
#include "engine/real/posix/regular_file.h"
#include "engine/real/storage/lock_holder.h"
#include "engine/world/directories.h"
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Modes before the umask; never world-writable, whatever the umask is.
constexpr mode_t kFileMode = 0664;
constexpr mode_t kDirectoryMode = 0775;
constexpr mode_t kPrivateMode = 0600;
constexpr int kFirstLockDescriptor = 10;

int OpenFlags(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead:
      return O_RDONLY;
    case OpenMode::kReadWrite:
      return O_RDWR;
    case OpenMode::kCreateExclusive:
      return O_RDWR | O_CREAT | O_EXCL;
    case OpenMode::kCreateTruncate:
      return O_RDWR | O_CREAT | O_TRUNC;
  }
  CHECK(false, "an unknown open mode");
}

class PosixFile final : public File {
 public:
  PosixFile(std::string path, Descriptor fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    const uint64_t begin = offset;
    while (!bytes.empty()) {
      const ssize_t written = RetryOnInterrupt([&] {
        return pwrite(fd_.get(), bytes.data(), bytes.size(),
                      static_cast<off_t>(offset));
      });
      if (written < 0) return PosixError(errno, path_, "write");
      if (written == 0) return PosixError(EIO, path_, "write of nothing");
      bytes = bytes.subspan(static_cast<size_t>(written));
      offset += static_cast<uint64_t>(written);
    }
    StartWriteBack(begin, offset);
    return OkStatus();
  }

  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> bytes) override {
    size_t total = 0;
    while (total < bytes.size()) {
      const ssize_t read = RetryOnInterrupt([&] {
        return pread(fd_.get(), bytes.data() + total, bytes.size() - total,
                     static_cast<off_t>(offset + total));
      });
      if (read < 0) return PosixError(errno, path_, "read");
      if (read == 0) break;
      total += static_cast<size_t>(read);
    }
    return total;
  }

  Result<uint64_t> Size() override {
    struct stat info = {};
    if (fstat(fd_.get(), &info) != 0) return PosixError(errno, path_, "stat");
    return static_cast<uint64_t>(info.st_size);
  }

  Status Sync() override {
    if (RetryOnInterrupt([&] { return fsync(fd_.get()); }) != 0) {
      return PosixError(errno, path_, "fsync");
    }
    return OkStatus();
  }

 private:
  // Makes the disk write consecutive data early, while the rest is still being
  // produced, so that Sync waits less. Sync also reports errors that occur
  // here.
  void StartWriteBack(uint64_t begin, uint64_t end) {
    constexpr uint64_t kPiece = uint64_t{8} << 20;
    if (begin != written_to_) begun_to_ = begin;
    written_to_ = end;
    if (written_to_ - begun_to_ < kPiece) return;
    sync_file_range(fd_.get(), static_cast<off_t>(begun_to_),
                    static_cast<off_t>(written_to_ - begun_to_),
                    SYNC_FILE_RANGE_WRITE);
    begun_to_ = written_to_;
  }

  const std::string path_;
  const Descriptor fd_;
  uint64_t written_to_ = 0;  // end of the newest write
  uint64_t begun_to_ = 0;    // write-back has been started up to here
};

// Returns the target of a dangling link; "" if the path is not one.
std::string DanglingTarget(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 || errno != ENOENT) return "";
  std::string target(4096, '\0');
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  return size > 0 ? target.substr(0, static_cast<size_t>(size)) : "";
}

// Returns the Status of a failed call on a path. A dangling link is kIoError:
// the name is neither free nor usable.
Status ErrorAt(const std::string& path, int error, std::string_view operation) {
  const std::string target =
      error == ENOENT || error == EEXIST ? DanglingTarget(path) : "";
  if (target.empty()) return PosixError(error, path, operation);
  return IoError(fmt::format("{}: {}: it is a link to {}, which does not exist",
                             path, operation, target));
}

Result<std::unique_ptr<File>> OpenRegular(const std::string& path, int flags,
                                          mode_t mode) {
  // O_NONBLOCK: opening a pipe in the place of a file must not hang.
  Descriptor fd(RetryOnInterrupt([&] {
    return open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode);
  }));
  if (!fd.valid()) {
    // If the name of a new file is taken, even by a dangling link, the error is
    // kAlreadyExists.
    return errno == ENOENT ? ErrorAt(path, errno, "open")
                           : PosixError(errno, path, "open");
  }
  if (const Status regular = CheckRegularFile(fd, path); !regular.ok()) {
    return IoError(regular.message());
  }
  return std::unique_ptr<File>(
      std::make_unique<PosixFile>(path, std::move(fd)));
}

// Returns true iff the file's owner is this process's user or the owner of the
// directory. The latter can replace every file in the directory. (A file server
// that squashes root assigns files and directories created by root to the user
// `nobody`.)
bool OwnerIsTrusted(uid_t owner, const std::string& path) {
  if (owner == geteuid()) return true;
  struct stat info = {};
  return stat(ParentDirectory(path).c_str(), &info) == 0 &&
         owner == info.st_uid;
}

// Returns kFailedPrecondition if the open file has an untrusted owner, or if
// others may open it; else as CheckRegularFile.
Status CheckPrivate(const Descriptor& file, const std::string& path) {
  RETURN_IF_ERROR(CheckRegularFile(file, path));
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return PosixError(errno, path, "stat");
  if (!OwnerIsTrusted(info.st_uid, path)) {
    return FailedPrecondition(
        fmt::format("{}: expected a file of user {}, who runs this process, "
                    "or of the directory's owner, found one of user {}",
                    path, geteuid(), info.st_uid));
  }
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if ((info.st_mode & kOthers) == 0) return OkStatus();
  return FailedPrecondition(
      fmt::format("{}: expected a file that its owner alone may open, found "
                  "mode {:04o} (chmod 600 it if nobody else has read it)",
                  path, info.st_mode & 07777));
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// Returns the entry's kind, following links; nullopt if it has just vanished.
Result<std::optional<FileKind>> KindOf(DIR* directory, const dirent& entry,
                                       const std::string& path) {
  if (entry.d_type == DT_REG) return std::optional(FileKind::kFile);
  if (entry.d_type == DT_DIR) return std::optional(FileKind::kDirectory);
  // The entry is a link, or the file system does not report types in listings.
  struct stat info = {};
  if (fstatat(dirfd(directory), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) !=
      0) {
    if (errno == ENOENT) return std::optional<FileKind>();
    return PosixError(errno, path + "/" + entry.d_name, "stat");
  }
  if (S_ISLNK(info.st_mode)) {
    if (fstatat(dirfd(directory), entry.d_name, &info, 0) != 0) {
      if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) {
        return std::optional(FileKind::kDanglingLink);
      }
      return PosixError(errno, path + "/" + entry.d_name, "stat");
    }
    if (S_ISDIR(info.st_mode)) return std::optional(FileKind::kDirectoryLink);
  }
  if (S_ISDIR(info.st_mode)) return std::optional(FileKind::kDirectory);
  return std::optional(S_ISREG(info.st_mode) ? FileKind::kFile
                                             : FileKind::kOther);
}

// Adds advice to kInvalidArgument, which means that a person has put something
// else in the place of the lock.
Status LockError(const Status& status) {
  if (status.code() != Code::kInvalidArgument) return status;
  return InvalidArgument(status.message() + "; remove it");
}

}  // namespace

struct PosixStorage::LockTable {
  std::mutex mutex;
  std::set<int> descriptors;
};

class PosixStorage::PosixLock final : public FileLock {
 public:
  PosixLock(Descriptor fd, std::shared_ptr<LockTable> table)
      : fd_(std::move(fd)), table_(std::move(table)) {
    const std::lock_guard guard(table_->mutex);
    table_->descriptors.insert(fd_.get());
  }
  // Only closes: LOCK_UN would also release the lock for processes that
  // inherited it.
  ~PosixLock() override {
    const std::lock_guard guard(table_->mutex);
    table_->descriptors.erase(fd_.get());
    fd_.Reset();
  }
  PosixLock(const PosixLock&) = delete;
  PosixLock& operator=(const PosixLock&) = delete;

 private:
  Descriptor fd_;
  const std::shared_ptr<LockTable> table_;
};

PosixStorage::PosixStorage() : locks_(std::make_shared<LockTable>()) {}
PosixStorage::~PosixStorage() = default;

Result<std::unique_ptr<File>> PosixStorage::Open(const std::string& path,
                                                 OpenMode mode) {
  return OpenRegular(path, OpenFlags(mode), kFileMode);
}

Result<std::vector<DirectoryEntry>> PosixStorage::List(
    const std::string& path) {
  const std::unique_ptr<DIR, CloseDirectory> directory(opendir(path.c_str()));
  if (directory == nullptr && errno == ENOTDIR) {
    return IoError(fmt::format(
        "{}: expected a folder, found a file there or above it", path));
  }
  if (directory == nullptr) return ErrorAt(path, errno, "opendir");
  std::vector<DirectoryEntry> entries;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(directory.get());  // one stream per task
    if (entry == nullptr) {
      if (errno != 0) return PosixError(errno, path, "readdir");
      break;
    }
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    ASSIGN_OR_RETURN(const std::optional<FileKind> kind,
                     KindOf(directory.get(), *entry, path));
    if (kind) entries.push_back({.name = std::move(name), .kind = *kind});
  }
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

Status PosixStorage::MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), kDirectoryMode) == 0) return OkStatus();
  return ErrorAt(path, errno, "mkdir");
}

Status PosixStorage::Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) {
    return PosixError(errno, from, "rename to " + to);
  }
  return OkStatus();
}

Result<std::unique_ptr<File>> PosixStorage::CreatePrivate(
    const std::string& path) {
  return OpenRegular(path, OpenFlags(OpenMode::kCreateExclusive), kPrivateMode);
}

Result<std::unique_ptr<File>> PosixStorage::OpenPrivate(
    const std::string& path) {
  // Does not follow links: anybody who may write to the directory may have put
  // one there.
  constexpr int kFlags =
      O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
  Descriptor fd(RetryOnInterrupt([&] { return open(path.c_str(), kFlags); }));
  const Status opened =
      fd.valid() ? CheckPrivate(fd, path) : OpenError(errno, path);
  if (opened.code() == Code::kInvalidArgument) {
    return FailedPrecondition(opened.message());
  }
  RETURN_IF_ERROR(opened);
  return std::unique_ptr<File>(
      std::make_unique<PosixFile>(path, std::move(fd)));
}

Status PosixStorage::RenameToNew(const std::string& from,
                                 const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                RENAME_NOREPLACE) == 0) {
    return OkStatus();
  }
  // Network file systems lack this kind of rename, but can create a second
  // name.
  if (errno != EINVAL && errno != ENOSYS) {
    return PosixError(errno, from, "rename to " + to);
  }
  if (link(from.c_str(), to.c_str()) != 0) {
    return PosixError(errno, from, "link to " + to);
  }
  if (unlink(from.c_str()) != 0) return PosixError(errno, from, "unlink");
  return OkStatus();
}

Status PosixStorage::Remove(const std::string& path, FileKind kind) {
  if (kind == FileKind::kDirectory) {
    if (rmdir(path.c_str()) != 0) return PosixError(errno, path, "rmdir");
  } else {
    if (unlink(path.c_str()) != 0) return PosixError(errno, path, "unlink");
  }
  return OkStatus();
}

Status PosixStorage::SyncDirectory(const std::string& path) {
  const Descriptor fd(RetryOnInterrupt(
      [&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd.valid()) return PosixError(errno, path, "open directory");
  if (RetryOnInterrupt([&] { return fsync(fd.get()); }) != 0) {
    const int error = errno;
    Status failed = PosixError(error, path, "fsync of directory");
    if (error != EINVAL) return failed;
    return {failed.code(), failed.message() +
                               " (this file system cannot sync directories; "
                               "choose a folder of another one)"};
  }
  return OkStatus();
}

Result<std::unique_ptr<FileLock>> PosixStorage::Lock(const std::string& path) {
  // Does not follow links: the holder writes its name into the file.
  constexpr int kFlags =
      O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
  const Descriptor low(
      RetryOnInterrupt([&] { return open(path.c_str(), kFlags, kFileMode); }));
  if (!low.valid()) return LockError(OpenError(errno, path));
  RETURN_IF_ERROR(LockError(CheckRegularFile(low, path)));
  ASSIGN_OR_RETURN(Descriptor fd,
                   DuplicateFrom(low, kFirstLockDescriptor, path));
  if (RetryOnInterrupt([&] { return flock(fd.get(), LOCK_EX | LOCK_NB); }) !=
      0) {
    if (errno == EWOULDBLOCK) {
      return AlreadyExists(path + ": locked by " + ReadLockHolder(fd));
    }
    return PosixError(errno, path, "flock");
  }
  // If the holder has removed the file since it was opened here, a lock on it
  // excludes nobody: tries again.
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) return PosixError(errno, path, "stat");
  if (info.st_nlink == 0) return Lock(path);
  WriteLockHolder(fd);
  return std::unique_ptr<FileLock>(
      std::make_unique<PosixLock>(std::move(fd), locks_));
}

Result<std::string> PosixStorage::RealPath(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (error) return PosixError(error.value(), path, "absolute path");
  const auto real = std::filesystem::weakly_canonical(absolute, error);
  if (error) return PosixError(error.value(), path, "real path");
  return WithoutLastSlashes(real.string());
}

Result<uint64_t> PosixStorage::FreeBytes(const std::string& path) {
  struct statvfs info = {};
  if (RetryOnInterrupt([&] { return statvfs(path.c_str(), &info); }) != 0) {
    return PosixError(errno, path, "statvfs");
  }
  return uint64_t{info.f_bavail} * uint64_t{info.f_frsize};
}

std::vector<int> PosixStorage::HeldLocks() const {
  const std::lock_guard guard(locks_->mutex);
  return {locks_->descriptors.begin(), locks_->descriptors.end()};
}

}  // namespace gauntlet
