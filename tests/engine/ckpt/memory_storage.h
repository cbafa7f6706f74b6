// Files in memory that can be copied as a whole, and can refuse operations.
#ifndef GAUNTLET_TESTS_ENGINE_CKPT_MEMORY_STORAGE_H_
#define GAUNTLET_TESTS_ENGINE_CKPT_MEMORY_STORAGE_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/world/storage.h"

namespace gauntlet {

enum class StorageCall { kOpen, kRead, kList, kCreate, kWrite, kSync, kChange };

class MemoryStorage final : public Storage {
 public:
  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path, FileKind kind) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;

  // Called before each operation. If it returns an error, the operation fails
  // with it.
  std::function<Status(StorageCall, const std::string&)> gate;

  // Memory that each file was read into, by path; one entry per read.
  std::map<std::string, std::vector<std::span<const std::byte>>> reads;

  // All files with their bytes, by path. Paths of directories end in '/'; the
  // root is left out.
  std::map<std::string, std::string> Contents() const;
  void SetContents(const std::map<std::string, std::string>& contents);
  std::string& Bytes(const std::string& path);
  bool Exists(const std::string& path) const;

 private:
  friend class MemoryFile;
  Status Ask(StorageCall operation, const std::string& path);

  std::map<std::string, std::shared_ptr<std::string>> files_;
  std::set<std::string> directories_ = {"/"};
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_CKPT_MEMORY_STORAGE_H_
