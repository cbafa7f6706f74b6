// Storage that can refuse any operation, and run any code before each of them.
#ifndef GAUNTLET_TESTS_PROPERTY_GATED_STORAGE_H_
#define GAUNTLET_TESTS_PROPERTY_GATED_STORAGE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/world/storage.h"

namespace gauntlet {

class GatedStorage final : public Storage {
 public:
  explicit GatedStorage(Storage& base) : base_(base) {}

  // Called before each operation, also those of open files. If it returns an
  // error, the operation fails with it and has no effect.
  std::function<Status()> gate;

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path, FileKind kind) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;

 private:
  class GatedFile;
  Status Ask() { return gate ? gate() : OkStatus(); }

  Storage& base_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_PROPERTY_GATED_STORAGE_H_
