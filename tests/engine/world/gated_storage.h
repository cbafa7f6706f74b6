// A storage in front of another one. It can refuse any operation, and run any
// code before each of them.
#ifndef GAUNTLET_TESTS_ENGINE_WORLD_GATED_STORAGE_H_
#define GAUNTLET_TESTS_ENGINE_WORLD_GATED_STORAGE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/world/storage.h"

namespace gauntlet {

enum class StorageCall {
  kOpen,         // opens a file to read
  kOpenToWrite,  // opens an existing file to write
  kCreate,       // creates a file or a directory
  kRead,         // reads bytes or the size of a file
  kWrite,
  kSync,  // syncs a file or a directory
  kList,
  kChange,  // Rename, RenameToNew, Remove
  kLock
};

class GatedStorage : public Storage {
 public:
  using Gate = std::function<Status(StorageCall, const std::string& path)>;

  // `base` must outlive this, and this must outlive the files that it opened.
  explicit GatedStorage(Storage& base) : base_(base) {}

  // Called before each operation, also those of open files, but not before
  // RealPath and FreeBytes. If it returns an error, the operation fails with it
  // and has no effect.
  Gate gate;

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) final;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) final;
  Status MakeDirectory(const std::string& path) final;
  Status Rename(const std::string& from, const std::string& to) final;
  Status Remove(const std::string& path, FileKind kind) final;
  Status SyncDirectory(const std::string& path) final;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) final;
  Result<std::string> RealPath(const std::string& path) final;
  Result<uint64_t> FreeBytes(const std::string& path) final;
  Result<std::unique_ptr<File>> CreatePrivate(const std::string& path) final;
  Result<std::unique_ptr<File>> OpenPrivate(const std::string& path) final;
  Status RenameToNew(const std::string& from, const std::string& to) final;

 private:
  class GatedFile;
  Status Ask(StorageCall call, const std::string& path) {
    return gate ? gate(call, path) : OkStatus();
  }
  Result<std::unique_ptr<File>> WithGate(const std::string& path,
                                         Result<std::unique_ptr<File>> file);

  Storage& base_;
};

// A gate that returns kIoError for all operations but reading and listing.
Status AllowReading(StorageCall call, const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_WORLD_GATED_STORAGE_H_
