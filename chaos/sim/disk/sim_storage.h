// A process's access to its machine's disk: Storage over SimDisk, with latency.
#ifndef GAUNTLET_CHAOS_SIM_DISK_SIM_STORAGE_H_
#define GAUNTLET_CHAOS_SIM_DISK_SIM_STORAGE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chaos/sim/disk/shared_view.h"
#include "chaos/sim/disk/sim_disk.h"
#include "chaos/sim/scheduler/latency.h"
#include "chaos/sim/scheduler/random_stream.h"
#include "chaos/sim/scheduler/scheduler.h"
#include "engine/world/storage.h"

namespace gauntlet {

// The process that uses the storage. Every operation first consumes its time
// and then takes effect, so that a kill in between leaves it undone.
struct StorageUser {
  int process = 0;
  // Null: a user outside the simulation, for which operations take no time.
  FiberGroup* group = nullptr;
  // Its host's view of a file server; null if the disk is the machine's own.
  SharedView* view = nullptr;
};

class SimStorage final : public Storage {
 public:
  // `latency` and `random` are the disk's, or this process's own; all
  // references outlive the storage and its files.
  SimStorage(Scheduler& scheduler, SimDisk& disk, const StorageLatency& latency,
             RandomStream random, StorageUser user);

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path, FileKind kind) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<uint64_t> FreeBytes(const std::string& path) override;
  Status RenameToNew(const std::string& from, const std::string& to) override;

  // Takes a share of every lock that `parent` holds.
  void InheritLocks(const SimStorage& parent);
  // Called when the process has ended: gives up its share of all locks.
  void ReleaseLocks();

 private:
  friend class SimFile;
  friend class SimFileLock;

  bool gone() const { return user_.group != nullptr && user_.group->killed; }
  // Consumes the operation's time; an error if the process is gone.
  Status Begin(const char* verb, const std::string& path, uint64_t bytes);
  Status BeginSync(const std::string& path);
  Status Spend(const char* verb, const std::string& path, Duration duration);
  // Adds a finished operation to the digest and returns its status.
  Status Recorded(uint64_t word, const std::string& path, Status status);
  void Release(const std::shared_ptr<Inode>& inode);

  Scheduler& scheduler_;
  SimDisk& disk_;
  const StorageLatency& latency_;
  RandomStream random_;
  StorageUser user_;
  std::vector<std::shared_ptr<Inode>> locked_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_SIM_STORAGE_H_
