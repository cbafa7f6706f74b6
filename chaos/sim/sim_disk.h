// The disk of a simulated machine, and what a power cut leaves on it.
//
// Fault model. Reads see every write at once (the page cache), whoever made it;
// the death of a process loses nothing. A power cut keeps what is durable and,
// of what is still pending, a chosen subset that the profile allows:
//
// - kExt4, after ext4 with data=ordered and delayed allocation. Operations on
//   names (create, rename, remove) reach the journal in the order in which they
//   were made, so a prefix of them survives; Sync of any file and SyncDirectory
//   of any directory commit all before them. Of the data: blocks that overwrite
//   durable ones survive independently, each old, new, or torn at a 512-byte
//   sector; blocks behind the durable end survive as a prefix, so that a new
//   file may be found empty or short, but never holds what nobody wrote. A
//   file that was emptied (O_TRUNC) and perhaps written again has other blocks
//   from then on: it is found as it was, whole, or as a prefix of what it
//   became, empty at the least, and no sector of the one in the other. A rename
//   onto an existing file writes the new file's data first (auto_da_alloc).
//   Two things are left looser than they are: emptying a file takes no place in
//   the order of the names, and closing one that was emptied does not hurry its
//   data (the other half of auto_da_alloc).
// - kWeak, all that POSIX leaves open. Sync makes a file's data and size
//   durable, not its name; SyncDirectory makes durable the operations on names
//   in that directory and those they build on. Any subset of the other
//   operations survives, each whole (a rename is never half done). Every
//   4-KiB block that was written survives or not on its own, or torn, and the
//   size may be the old, the new, the smallest that the file had since it was
//   last synced, or a multiple of the block between these, with zeros where
//   nothing survived.
//
// A block that was written twice since the last Sync is found old or as it was
// last, not in between; a Sync takes in what other tasks write while it runs.
//
// - kLyingFsync, a drive that answers a flush before it has done it. Sync and
//   SyncDirectory say Ok and make nothing durable at first: each takes effect,
//   as under kWeak, when `late_syncs` more of them have been asked for, and
//   then takes in what was written since. All else is as under kWeak. So
//   nothing that is acknowledged is safe yet, what is older than that many
//   syncs is; and what a program did last may be there without what it did
//   before. Of a store that syncs in the right order a state that verifies, an
//   older one, or a refusal may be asked; not a given one.
// - kShared, a file server (NFS, a synchronous export) seen from the server: an
//   operation on names is durable when it returns; data and size are durable
//   after Sync, and before it as under kWeak. A power cut here is the server's.
//   What a client keeps to itself until then, and what it does not see of the
//   others, is shared_view.h's.
#ifndef GAUNTLET_CHAOS_SIM_SIM_DISK_H_
#define GAUNTLET_CHAOS_SIM_SIM_DISK_H_

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

#include "chaos/sim/disk_log.h"
#include "chaos/sim/durability_profile.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

struct DiskOptions {
  DurabilityProfile profile = DurabilityProfile::kExt4;
  // kLyingFsync: how many syncs late each one is; UINT64_MAX: for ever. The
  // default is about one save and a half of four workers.
  uint64_t late_syncs = 16;
  // Of file contents; more is kResourceExhausted.
  uint64_t capacity_bytes = UINT64_MAX;
  // Where not null, every operation that changes something goes there, up to
  // the first power loss; one disk only. Outlives the disk.
  DiskLog* log = nullptr;
};

// Answers in [0, n) for n > 0: which of n allowed outcomes a power cut has.
// Random in a simulation; an enumeration tries them all.
using Choose = std::function<uint64_t(uint64_t n)>;

// A file or directory, whatever its name. Only SimDisk looks inside.
struct Inode : std::enable_shared_from_this<Inode> {
  struct DirtyBlock {
    std::string durable;     // what a power cut may fall back to
    uint64_t operation = 0;  // the last that wrote it
  };
  using Entries = std::map<std::string, std::shared_ptr<Inode>, std::less<>>;

  FileKind kind = FileKind::kFile;
  uint64_t number = 0;   // in the order in which they were made, from 1
  uint64_t version = 0;  // goes up with every change of data and of what is
                         // durable of it
  bool linked = true;    // has a name for readers; counts towards the capacity
  // Of a file.
  std::string data;
  uint64_t durable_size = 0;
  uint64_t smallest_size = 0;            // since it was made durable
  std::map<uint64_t, DirtyBlock> dirty;  // by block index
  std::vector<int> lock_holders;
  std::string made_as;      // the path, where there is a log
  Inode* parent = nullptr;  // where readers find it; null for the root
  // Of a directory: for readers, and after a power cut.
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
  void PowerLoss(const Choose& choose);

  uint64_t used_bytes() const { return used_bytes_; }
  // The time of what comes next, for the log.
  void StampTime(Time now) {
    if (options_.log != nullptr) options_.log->now = now;
  }
  uint64_t operations() const { return operations_; }
  const DiskOptions& options() const { return options_; }

 private:
  friend class CrashImages;

  // A change of names, atomic: taken from one place, put into another, or both.
  struct NameChange {
    std::shared_ptr<Inode> inode;
    std::shared_ptr<Inode> from;  // directory; null for a new inode
    std::string from_name;
    std::shared_ptr<Inode> to;  // directory; null for a removal
    std::string to_name;
    bool replaces_file = false;
    uint64_t operation = 0;
  };
  // A name in a directory; `inode` is null where there is none. The name is a
  // part of the path that was looked for.
  struct Place {
    Inode* directory = nullptr;
    std::string_view name;
    Inode* inode = nullptr;
  };
  // What is on the disk with some of the pending changes of names.
  struct KeptNames {
    std::map<const Inode*, Inode::Entries> directories;
    std::set<const Inode*> flushed;  // files whose data went before them
  };

  // A beginning of paths, with its last '/', and where it leads; null: it is
  // not known any more.
  struct KnownPath {
    std::string path;
    Inode* directory = nullptr;
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
  // Counts a micro-operation, and logs it where there is a log. Returns its
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
  // Whether they survive as a prefix.
  bool NamesInOrder() const;
  KeptNames NamesWith(const std::vector<bool>& kept) const;
  void KeepNames(const Choose& choose);
  void KeepData(Inode& file, const Choose& choose);
  void Restore(Inode& directory, const Choose& choose);

  // What a cut may leave of a file: one of its extents, and of each dirty block
  // within one of its outcomes.
  enum : uint64_t { kOld, kNew, kFirstTorn };
  static constexpr uint64_t kCuts = kBlockBytes / kSectorBytes - 1;
  enum class Blocks : uint8_t { kEachItsOwn, kAllOld, kAllNew };
  struct Extent {
    uint64_t size = 0;
    Blocks blocks = Blocks::kEachItsOwn;
  };
  // No two of the same size and blocks.
  std::vector<Extent> ExtentsAfter(const Inode& file) const;
  // The number of outcomes of the block, and the one where there is one only.
  uint64_t OutcomesOf(const Inode& file, const Extent& extent,
                      uint64_t block) const;
  static uint64_t OnlyOutcome(const Extent& extent);
  static std::string BlockAfter(const Inode& file, uint64_t block,
                                const Inode::DirtyBlock& dirty,
                                uint64_t outcome);
  // The file's bytes with an outcome for each dirty block within the size.
  static std::string Compose(const Inode& file, uint64_t size,
                             std::span<const uint64_t> outcomes);

  DiskOptions options_;
  std::shared_ptr<Inode> root_;
  // Of the last place that was found: the next is mostly beside it. Until a
  // name goes away.
  KnownPath known_;
  std::vector<NameChange> pending_;  // oldest first
  std::deque<std::shared_ptr<Inode>> late_;
  uint64_t used_bytes_ = 0;
  uint64_t inodes_ = 0;
  uint64_t operations_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SIM_DISK_H_
