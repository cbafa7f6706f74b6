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
//   rename onto an existing file writes the new file's data first
//   (auto_da_alloc).
// - kWeak, all that POSIX leaves open. Sync makes a file's data and size
//   durable, not its name; SyncDirectory makes durable the operations on names
//   in that directory and those they build on. Any subset of the other
//   operations survives, each whole (a rename is never half done). Every
//   4-KiB block that was written survives or not on its own, or torn, and the
//   size may be the old, the new, or a multiple of the block in between, with
//   zeros where nothing survived.
//
// A block that was written twice since the last Sync is found old or as it was
// last, not in between; a Sync takes in what other tasks write while it runs.
// Blocks declared lost (LoseUnsynced) are never made durable by a later Sync,
// as after an fsync that failed.
#ifndef GAUNTLET_CHAOS_SIM_SIM_DISK_H_
#define GAUNTLET_CHAOS_SIM_SIM_DISK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

enum class DurabilityProfile : uint8_t { kExt4, kWeak };

struct DiskOptions {
  DurabilityProfile profile = DurabilityProfile::kExt4;
  // Of file contents; more is kResourceExhausted.
  uint64_t capacity_bytes = UINT64_MAX;
};

// Answers in [0, n) for n > 0: which of n allowed outcomes a power cut has.
// Random in a simulation; an enumeration tries them all.
using Choose = std::function<uint64_t(uint64_t n)>;

// A file or directory, whatever its name. Only SimDisk looks inside.
struct Inode {
  struct DirtyBlock {
    std::string durable;  // what a power cut may fall back to
    bool lost = false;    // no Sync helps any more
  };
  using Entries = std::map<std::string, std::shared_ptr<Inode>, std::less<>>;

  FileKind kind = FileKind::kFile;
  bool linked = true;  // has a name for readers; counts towards the capacity
  // Of a file.
  std::string data;
  uint64_t durable_size = 0;
  std::map<uint64_t, DirtyBlock> dirty;  // by block index
  std::vector<int> lock_holders;
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

  // What is pending of the file's data stays readable, but no Sync makes it
  // durable; data written later is not concerned.
  Status LoseUnsynced(std::string_view path);
  // REQUIRES: no file is open.
  void PowerLoss(const Choose& choose);

  uint64_t used_bytes() const { return used_bytes_; }
  void set_capacity_bytes(uint64_t bytes) { options_.capacity_bytes = bytes; }

 private:
  // A change of names, atomic: taken from one place, put into another, or both.
  struct NameChange {
    std::shared_ptr<Inode> inode;
    std::shared_ptr<Inode> from;  // directory; null for a new inode
    std::string from_name;
    std::shared_ptr<Inode> to;  // directory; null for a removal
    std::string to_name;
    bool replaces_file = false;
  };
  // A name in a directory; `inode` is null where there is none.
  struct Place {
    std::shared_ptr<Inode> directory;
    std::string name;
    std::shared_ptr<Inode> inode;
  };
  using Links = std::map<const Inode*, std::pair<Inode*, std::string>>;

  Result<Place> Find(std::string_view operation, std::string_view path) const;
  Result<std::shared_ptr<Inode>> FindDirectory(std::string_view operation,
                                               std::string_view path) const;
  std::shared_ptr<Inode> Create(const Place& place, FileKind kind);
  void Unlink(Inode& inode);
  void Empty(Inode& file);
  static void Flush(Inode& file);
  static std::string BlockOf(const Inode& file, uint64_t block);

  static void MakeDurable(const NameChange& change);
  void CommitNames(const Inode& directory);
  void KeepNames(const Choose& choose);
  static void MapLinks(Inode& directory, Links& links);
  void KeepData(Inode& file, const Choose& choose);
  uint64_t KeepSize(const Inode& file, const Choose& choose) const;
  std::string KeepBlock(const Inode& file, uint64_t block,
                        const Inode::DirtyBlock& dirty,
                        const Choose& choose) const;
  void Restore(Inode& directory, const Choose& choose);

  DiskOptions options_;
  std::shared_ptr<Inode> root_;
  std::vector<NameChange> pending_;  // oldest first
  uint64_t used_bytes_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SIM_DISK_H_
