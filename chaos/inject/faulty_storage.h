// Storage between the engine and the world's: performs the storage faults of a
// plan and otherwise passes every call on.
//
// chaos/inject/plan/plan.h defines what each fault leaves behind. Safe from any
// task, as the storage behind it is. A process has one FaultyStorage and one
// Injector.
#ifndef GAUNTLET_CHAOS_INJECT_FAULTY_STORAGE_H_
#define GAUNTLET_CHAOS_INJECT_FAULTY_STORAGE_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "chaos/inject/injector.h"
#include "engine/world/storage.h"

namespace gauntlet {

class FaultyStorage final : public Storage {
 public:
  // Both arguments must outlive this, and this must outlive the files that it
  // opened.
  FaultyStorage(Storage& base, Injector& injector);

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

 private:
  class FaultyFile;

  // Returns the error that is due at the operation on that path, if any;
  // performs damage that is due before a read.
  Status Before(StorageOperation operation, const std::string& path);
  // Damages a file at rest. A file that the fault cannot change, or that cannot
  // be opened, is left alone and the fault does not fire.
  void Damage(const Injector::Armed& armed, const std::string& path);
  Status FlipBit(const Injector::Armed& armed, const std::string& path);
  Status Truncate(const Injector::Armed& armed, const std::string& path);
  Status Delete(const Injector::Armed& armed, const std::string& path);

  bool IsUndurable(const std::string& path);
  void SetUndurable(const std::string& path);
  void ForgetUndurable(const std::string& path);
  void MoveUndurable(const std::string& from, const std::string& to);

  Storage& base_;
  Injector& injector_;
  std::mutex mutex_;
  // Files of which a sync has failed. No later sync makes them durable.
  std::set<std::string> undurable_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FAULTY_STORAGE_H_
