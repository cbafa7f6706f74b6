// Files: POSIX semantics, Status results.
//
// A write is durable only after Sync of its file; a name (created, renamed or
// removed) only after SyncDirectory of its directory. A failed Sync may have
// lost earlier writes, and after it even a successful Sync of the same file
// does not make them durable.
//
// Paths are plain strings with '/' between parts. Messages name path and
// operation. Codes, by what a caller can do:
//   kNotFound           ENOENT
//   kAlreadyExists      EEXIST, ENOTEMPTY
//   kResourceExhausted  ENOSPC, EDQUOT: disk full. Removing files helps.
//   kForbidden          EACCES, EPERM, EROFS, EFBIG, ENAMETOOLONG: the same
//                       call fails again until a person changes something.
//   kIoError            all others: EIO, but also EMFILE and ENFILE.
#ifndef GAUNTLET_ENGINE_WORLD_STORAGE_H_
#define GAUNTLET_ENGINE_WORLD_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

enum class OpenMode {
  kRead,             // Must exist.
  kReadWrite,        // Must exist.
  kCreateExclusive,  // Must not exist (O_CREAT | O_EXCL); read and write.
  kCreateTruncate,   // Created or truncated; read and write.
};

// An open file. The destructor closes it and writes nothing.
class File {
 public:
  virtual ~File() = default;
  // Writes all bytes, or fails; a failed write may have written a part.
  virtual Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) = 0;
  // Reads from the offset on until the span is full. Returns the number of
  // bytes read; fewer only at the end of the file.
  virtual Result<size_t> ReadAt(uint64_t offset,
                                std::span<std::byte> bytes) = 0;
  virtual Result<uint64_t> Size() = 0;
  virtual Status Sync() = 0;
};

// A lock on a path against other processes. It is held until its FileLock is
// destroyed or the process dies. If other processes inherited the lock, it is
// held until each of them, too, has closed it or died.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// Kind of a directory entry. A link to a file counts as kFile. A link to a
// directory does not count as kDirectory, as its contents belong to someone
// else. A dangling link has a target that does not exist.
enum class FileKind {
  kFile,
  kDirectory,
  kDirectoryLink,
  kDanglingLink,
  kOther
};
std::string_view FileKindName(FileKind kind);  // "a file"

struct DirectoryEntry {
  std::string name;
  FileKind kind = FileKind::kFile;
};

class Storage {
 public:
  virtual ~Storage() = default;
  virtual Result<std::unique_ptr<File>> Open(const std::string& path,
                                             OpenMode mode) = 0;
  // Lists the names in ascending byte order, without "." and "..".
  virtual Result<std::vector<DirectoryEntry>> List(const std::string& path) = 0;
  // Creates one level; kAlreadyExists if the name exists.
  virtual Status MakeDirectory(const std::string& path) = 0;
  // Replaces a file or an empty directory at `to`; kAlreadyExists if `to` is a
  // directory that is not empty.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // Removes an empty directory, or an entry that is not a directory.
  virtual Status Remove(const std::string& path, FileKind kind) = 0;
  virtual Status SyncDirectory(const std::string& path) = 0;
  // Creates the file if necessary; kAlreadyExists while another FileLock has
  // it.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
  // Returns the absolute path without links, "." and "..", so that all paths of
  // one file give the same result. Parts that do not exist yet stay as they
  // are. The default implementation is for storage without links and without a
  // working directory.
  virtual Result<std::string> RealPath(const std::string& path);
  // Returns the free bytes of the path's file system; a quota may allow less.
  virtual Result<uint64_t> FreeBytes(const std::string& path);

  // For secrets. The default implementations are for storages that have one
  // user and one task.
  //
  // As Open with kCreateExclusive, but readable and writable by the owner only,
  // from its creation on and whatever the umask is.
  virtual Result<std::unique_ptr<File>> CreatePrivate(const std::string& path);
  // Opens a secret to read it. kFailedPrecondition: it is a link, a pipe or a
  // device; or its owner is neither this process's user nor the directory's
  // owner; or users other than its owner may open it.
  virtual Result<std::unique_ptr<File>> OpenPrivate(const std::string& path);
  // Renames a file as Rename does, atomically; but kAlreadyExists if `to`
  // exists.
  virtual Status RenameToNew(const std::string& from, const std::string& to);
};

// Reads the whole file, at most `limit` bytes; kDataLoss if it is larger.
// `path` is for messages.
Result<std::string> ReadFile(File& file, const std::string& path,
                             uint64_t limit);
Result<std::string> ReadFile(Storage& storage, const std::string& path,
                             uint64_t limit);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_STORAGE_H_
