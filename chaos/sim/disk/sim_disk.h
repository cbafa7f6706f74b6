// The disk of a simulated machine, and the states that a power loss can leave.
//
// Fault model. All processes see each write immediately (the page cache); the
// death of a process loses nothing. A power loss keeps everything durable and,
// of the pending changes, a chosen subset that the profile allows:
//
// - kExt4, modelled on ext4 with data=ordered and delayed allocation.
//   Operations on names (create, rename, remove) enter the journal in order, so
//   a prefix of them survives. Sync of any file and SyncDirectory of any
//   directory commit all earlier ones. Data: blocks that overwrite durable ones
//   survive independently, each old, new, or torn at a 512-byte sector. Blocks
//   after the durable end survive as a prefix, so a new file may be found empty
//   or short, but never with bytes that nobody wrote. A file truncated to size
//   0 (O_TRUNC), and perhaps written again, uses other blocks from then on: it
//   is found either entirely old, or as a prefix of the new content, possibly
//   empty, never as a mixture of both. A rename onto an existing file writes
//   the new file's data first (auto_da_alloc). The model is looser than ext4 in
//   two ways: a truncation is not ordered among the changes of names, and
//   closing a truncated file does not flush its data (the other half of
//   auto_da_alloc).
// - kWeak, everything that POSIX permits. Sync makes a file's data and size
//   durable, not its name. SyncDirectory makes durable the operations on names
//   in that directory and those that they depend on. Any subset of the other
//   operations survives, each completely (a rename is never half done). Every
//   written 4-KiB block is independently new, old or torn. The size may be the
//   old one, the new one, the smallest since the file was last synced, or a
//   multiple of the block size between these, with zeros where nothing
//   survived.
//
// A block written twice since the last Sync is found old or in its last state,
// not in between. A Sync also covers writes that other tasks make while it
// runs.
//
// - kLyingFsync, a drive that acknowledges a flush before performing it. Sync
//   and SyncDirectory return Ok, and initially make nothing durable. Each takes
//   effect, as under kWeak, after `late_syncs` more requests, and then also
//   covers the writes made since. Everything else is as under kWeak. So only
//   older syncs are safe, and a program's last change may survive without an
//   earlier one. A store that syncs in the right order must recover a state
//   that verifies, perhaps an older one, or refuse; no particular state can be
//   required of it.
// - kShared, a file server (NFS, a synchronous export) as the server sees it:
//   an operation on names is durable when it returns; data and size are durable
//   after Sync, and before it as under kWeak. A power loss here is the
//   server's. shared_view.h models data that a client has not sent yet, and
//   changes by other clients that it does not see yet.
#ifndef GAUNTLET_CHAOS_SIM_DISK_SIM_DISK_H_
#define GAUNTLET_CHAOS_SIM_DISK_SIM_DISK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/sim/disk/disk_log.h"
#include "chaos/sim/disk/durability_profile.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

struct DiskOptions {
  DurabilityProfile profile = DurabilityProfile::kExt4;
  // kLyingFsync: number of syncs after which a sync takes effect; UINT64_MAX:
  // never. The default is about the number of syncs in one and a half saves of
  // four workers.
  uint64_t late_syncs = 16;
  // Capacity for file contents; a write beyond it is kResourceExhausted.
  uint64_t capacity_bytes = UINT64_MAX;
  // Receives every changing operation, up to the first power loss; may be null.
  // Serves one disk only, and outlives it.
  DiskLog* log = nullptr;
};

// Chooses one of the n > 0 outcomes allowed after a power loss; returns a
// number in [0, n). Random in a simulation; an enumeration tries all numbers.
using ChoiceSource = std::function<uint64_t(uint64_t n)>;

// A file or directory, independent of its name. Only SimDisk accesses the
// fields.
struct Inode : std::enable_shared_from_this<Inode> {
  struct DirtyBlock {
    std::string durable;     // the bytes that may return after a power loss
    uint64_t operation = 0;  // number of the last one that wrote it
  };
  using Entries = std::map<std::string, std::shared_ptr<Inode>, std::less<>>;

  FileKind kind = FileKind::kFile;
  uint64_t number = 0;   // in order of creation, from 1
  uint64_t version = 0;  // increases with every change of the data or
                         // its durable part
  bool linked = true;    // has a name for readers; counts towards the capacity
  // Files only.
  std::string data;
  uint64_t durable_size = 0;
  uint64_t smallest_size = 0;            // since it was last durable
  std::map<uint64_t, DirtyBlock> dirty;  // by block index
  std::vector<int> lock_holders;
  std::string made_as;      // the creating path, if there is a log
  Inode* parent = nullptr;  // the directory that lists it; null for the root
  // Directories only: the entries visible to readers, and the durable ones.
  Entries entries;
  Entries durable_entries;
};

class SimDisk {
 public:
  static constexpr uint64_t kBlockBytes = 4096;
  static constexpr uint64_t kSectorBytes = 512;

  explicit SimDisk(const DiskOptions& options);
  ~SimDisk();
  SimDisk(const SimDisk&) = delete;
  SimDisk& operator=(const SimDisk&) = delete;

  // As in engine/world/storage.h.
  Result<std::shared_ptr<Inode>> Open(std::string_view path, OpenMode mode);
  Result<std::vector<DirectoryEntry>> List(std::string_view path);
  Status MakeDirectory(std::string_view path);
  Status Rename(std::string_view from, std::string_view to);
  Status Remove(std::string_view path, FileKind kind);
  Status SyncDirectory(std::string_view path);

  Status Write(Inode& file, uint64_t offset, std::span<const std::byte> bytes);
  size_t Read(const Inode& file, uint64_t offset, std::span<std::byte> bytes);
  void Sync(Inode& file);

  // REQUIRES: no file is open.
  void PowerLoss(const ChoiceSource& choose);

  uint64_t used_bytes() const { return used_bytes_; }
  // Sets the log's time for the next operation.
  void StampTime(Time now) {
    if (options_.log != nullptr) options_.log->now = now;
  }
  uint64_t operations() const { return operations_; }
  const DiskOptions& options() const { return options_; }

 private:
  friend class CrashImages;

  // An atomic change of names: removes one name, adds one, or both.
  struct NameChange {
    std::shared_ptr<Inode> inode;
    std::shared_ptr<Inode> from;  // directory; null for a new inode
    std::string from_name;
    std::shared_ptr<Inode> to;  // directory; null for a removal
    std::string to_name;
    bool replaces_file = false;
    uint64_t operation = 0;
  };
  // A name in a directory; `inode` is null if the directory has no such name.
  // `name` points into the path that was looked up.
  struct Place {
    Inode* directory = nullptr;
    std::string_view name;
    Inode* inode = nullptr;
  };
  // The directories of the disk after some of the pending changes of names.
  struct KeptNames {
    std::map<const Inode*, Inode::Entries> directories;
    std::set<const Inode*> flushed;  // data flushed before a rename
  };

  static Place PlaceIn(Inode& directory, std::string_view name);
  Result<Place> Find(std::string_view operation, std::string_view path);
  Result<Inode*> FindDirectory(std::string_view operation,
                               std::string_view path);
  std::shared_ptr<Inode> Create(const Place& place, std::string_view path,
                                FileKind kind);
  void Unlink(Inode& inode);
  void Empty(Inode& file, std::string_view path);
  static std::string BlockOf(const Inode& file, uint64_t block);
  // Counts a micro-operation, and logs it if there is a log. Returns its
  // number.
  uint64_t Log(MicroOpKind kind, const Inode& inode, std::string_view path,
               std::string_view to = {});
  uint64_t LogPiece(const Inode& file, uint64_t block, uint64_t offset,
                    std::span<const std::byte> bytes);
  void Change(NameChange change);

  // sim_disk_durability.cc
  void SyncInode(Inode& inode);
  void SyncNow(Inode& inode);
  static void Flush(Inode& file);
  static void MakeDurable(NameChange&& change);
  void CommitNames();
  void CommitNamesOf(const Inode& directory);
  // Returns true iff the pending changes of names survive as a prefix.
  bool NamesInOrder() const;
  KeptNames NamesWith(const std::vector<bool>& kept) const;
  void KeepNames(const ChoiceSource& choose);
  void KeepData(Inode& file, const ChoiceSource& choose);
  void Restore(Inode& directory, const ChoiceSource& choose);

  // A power loss leaves a file with one of its extents, and each dirty block
  // within that extent with one of the block's outcomes.
  enum : uint64_t { kOld, kNew, kFirstTorn };
  static constexpr uint64_t kCuts = kBlockBytes / kSectorBytes - 1;
  enum class Blocks : uint8_t { kEachItsOwn, kAllOld, kAllNew };
  struct Extent {
    uint64_t size = 0;
    Blocks blocks = Blocks::kEachItsOwn;
  };
  // Returns the possible extents, all different.
  std::vector<Extent> ExtentsAfter(const Inode& file) const;
  // Return the number of outcomes of the block, and the outcome if it has only
  // one.
  uint64_t OutcomesOf(const Inode& file, const Extent& extent,
                      uint64_t block) const;
  static uint64_t OnlyOutcome(const Extent& extent);
  static std::string BlockAfter(const Inode& file, uint64_t block,
                                const Inode::DirtyBlock& dirty,
                                uint64_t outcome);
  // Returns the file's bytes, given an outcome for each dirty block within the
  // size.
  static std::string Compose(const Inode& file, uint64_t size,
                             std::span<const uint64_t> outcomes);

  DiskOptions options_;
  std::shared_ptr<Inode> root_;
  std::vector<NameChange> pending_;  // oldest first
  std::deque<std::shared_ptr<Inode>> late_;
  uint64_t used_bytes_ = 0;
  uint64_t inodes_ = 0;
  uint64_t operations_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_SIM_DISK_H_
