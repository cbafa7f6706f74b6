// Storage on this machine's file system, by plain POSIX calls.
#ifndef GAUNTLET_ENGINE_REAL_STORAGE_POSIX_STORAGE_H_
#define GAUNTLET_ENGINE_REAL_STORAGE_POSIX_STORAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/world/storage.h"

namespace gauntlet {

// Safe from any task. Interrupted calls are repeated, and short reads and
// writes completed. Only regular files can be opened. Files and directories are
// created with modes 0664 and 0775, less the umask.
//
// The holder of a lock writes its description into the file (lock_holder.h); a
// conflict quotes it. A lock is flock(2) on a descriptor of its own, so it
// belongs to the open file, not to the process. A forked child inherits the
// lock; it is held until all these processes have closed it or died. Like every
// descriptor it is closed by exec. To start a program that holds the locks too,
// clear FD_CLOEXEC of HeldLocks() between fork and exec, as
// LocalWorkerProcesses does. The numbers of these descriptors are 10 or more,
// so that they do not collide with descriptors of fixed meaning.
class PosixStorage final : public Storage {
 public:
  PosixStorage();
  ~PosixStorage() override;

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path, FileKind kind) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<std::string> RealPath(const std::string& path) override;
  Result<uint64_t> FreeBytes(const std::string& path) override;
  Result<std::unique_ptr<File>> CreatePrivate(const std::string& path) override;
  Result<std::unique_ptr<File>> OpenPrivate(const std::string& path) override;
  Status RenameToNew(const std::string& from, const std::string& to) override;

  // Returns the descriptors of the locks held now, ascending.
  std::vector<int> HeldLocks() const;

 private:
  struct LockTable;
  class PosixLock;
  // Shared with the locks, which may outlive this object.
  std::shared_ptr<LockTable> locks_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_STORAGE_POSIX_STORAGE_H_
