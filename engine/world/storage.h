// Files, as the engine sees them: POSIX meaning, Status results.
//
// Nothing written is durable before Sync of its file; no name (created, renamed
// or removed) before SyncDir of its directory. A Sync that failed may have lost
// what was written before it, and a later Sync on the same file proves nothing.
//
// Paths are plain strings with '/' between parts. Messages name path and
// operation. Codes, by what a caller can do:
//   kNotFound           ENOENT
//   kAlreadyExists      EEXIST, ENOTEMPTY
//   kResourceExhausted  ENOSPC, EDQUOT: no room. Removing files makes room.
//   kForbidden          EACCES, EPERM, EROFS, EFBIG, ENAMETOOLONG: the same
//                       call fails again until a person changes something.
//   kIoError            all else: EIO, but also EMFILE and ENFILE.
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
  kCreateTruncate,   // Made, or emptied; read and write.
};

// An open file. Closed by its destructor, which writes nothing.
class File {
 public:
  virtual ~File() = default;
  // Writes all of the bytes, or fails; a failure may have written a part.
  virtual Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) = 0;
  // Fills the span from the offset on; returns the bytes read, fewer only at
  // the end of the file.
  virtual Result<size_t> ReadAt(uint64_t offset,
                                std::span<std::byte> bytes) = 0;
  virtual Result<uint64_t> Size() = 0;
  virtual Status Sync() = 0;
};

// A lock on a path against other processes, released by the destructor and by
// the death of the last process that holds or inherited it.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// Kind of a directory entry. A link to a file counts as a file. A link to a
// directory is neither, as its contents belong to someone else. The target of a
// dangling link does not exist.
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
  // Names in ascending byte order, without "." and "..".
  virtual Result<std::vector<DirectoryEntry>> List(const std::string& path) = 0;
  // One level; kAlreadyExists if the name is taken.
  virtual Status MakeDirectory(const std::string& path) = 0;
  // Replaces a file or an empty directory at `to`; kAlreadyExists if `to` is a
  // directory that is not empty.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // An empty directory, or what is none.
  virtual Status Remove(const std::string& path, FileKind kind) = 0;
  virtual Status SyncDirectory(const std::string& path) = 0;
  // Creates the file if need be; kAlreadyExists while another holds it.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
  // The absolute path without links, "." and "..", so that two paths of one
  // place are equal. Parts that do not exist yet are taken as they stand. The
  // default is for storage without links and without a working directory.
  virtual Result<std::string> RealPath(const std::string& path);
  // Bytes that files on the path's file system may still take; a quota may
  // allow fewer.
  virtual Result<uint64_t> FreeBytes(const std::string& path);

  // Secrets. The defaults are for storages that have one user and one task.
  //
  // As Open with kCreateExclusive, closed to all but its owner from its first
  // moment, whatever the umask.
  virtual Result<std::unique_ptr<File>> CreatePrivate(const std::string& path);
  // Opens a secret to read it. kFailedPrecondition if it is a link or no
  // regular file, if neither this process's user nor the directory's owner owns
  // it, or if others than its owner may open it.
  virtual Result<std::unique_ptr<File>> OpenPrivate(const std::string& path);
  // As Rename of a file, but kAlreadyExists if `to` exists; atomic.
  virtual Status RenameToNew(const std::string& from, const std::string& to);
};

// The whole file, at most `limit` bytes; kDataLoss if it is larger. `path` is
// for messages.
Result<std::string> ReadFile(File& file, const std::string& path,
                             uint64_t limit);
Result<std::string> ReadFile(Storage& storage, const std::string& path,
                             uint64_t limit);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_STORAGE_H_
