// Changes that a power loss may lose at a point of a log, under one profile:
// the rules of chaos/sim/disk/sim_disk.h, extended to all that a traced program
// can do.
//
// A sync covers the operations that ended before it began. A block written
// twice since its last sync is found old or in its last state, not in between.
//
// kExt4: ext4 with default mount options. All listed states are possible under
// ext4, but not all possible ones are listed.
// - Journal. Changes of names (create, mkdir, symlink, link, rename, exchange,
//   unlink, rmdir, enter, leave), of modes and times, and of a file's shape
//   (truncate, allocate, punch_hole, zero_range, collapse_range, insert_range)
//   survive as a prefix in their order. Any sync (sync, sync_data,
//   sync_directory) commits all of them; sync_file_system also commits all
//   data; sync_range commits nothing.
// - Data. A block that overwrites durable bytes is old, new, or torn at a
//   sector of 512 bytes, independently of the journal. Bytes after the durable
//   end survive as a prefix. They survive only with all journal entries that
//   were made before these bytes were written, because the new length is in the
//   journal too. A block written into a hole or into allocated space without
//   bytes survives as a whole or not at all, under the same condition.
// - If a change of shape survives, so do all earlier writes to the file. If it
//   is lost, the file has its durable content.
// - auto_da_alloc. A rename onto a file survives only with the data of the
//   renamed file. If a file that was truncated to 0 is closed, journal entries
//   after the close survive only with the file's data. Neither rule applies to
//   exchange and link.
// - enter (a file from elsewhere appears): if its name survives, so do its
//   bytes, as another process may have synced them.
//
// kWeak: everything that POSIX permits.
// - Names. Any subset of their changes survives, each change completely.
//   sync_directory makes the changes in its directory durable, and those that
//   they depend on. sync_file_system makes all changes durable; the sync of a
//   file makes no name durable. Modes and times are never lost.
// - Data. sync and sync_data make data and length durable. Each block written
//   or cut off is old, new or torn; the length is the old one, the new one, the
//   smallest that the file had in between, or a multiple of the block size
//   between the smallest and the largest of these.
// - allocate, punch_hole, zero_range, collapse_range and insert_range are
//   durable immediately, with all earlier writes to the file.
// - enter: the bytes are unsynced, the name is a change of names.
#ifndef GAUNTLET_CHAOS_CRASH_UNSYNCED_CHANGES_H_
#define GAUNTLET_CHAOS_CRASH_UNSYNCED_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "chaos/crash/directory_tree.h"
#include "chaos/crash/pending_content.h"
#include "chaos/sim/disk/durability_profile.h"
#include "chaos/trace/log/operation_log.h"

namespace gauntlet {

class UnsyncedChanges {
 public:
  // REQUIRES: kExt4 or kWeak. The log must outlive this.
  UnsyncedChanges(DurabilityProfile profile, const OperationLog& log);

  // Adds the next operation; `now` is the tree after it.
  void Add(const ResolvedOperation& resolved, const DirectoryTree& now);

  // Returns the changes that may be lost, oldest first. Under kExt4 they
  // survive as a prefix.
  const std::vector<ResolvedOperation>& names() const { return names_; }

  struct Survivors {
    // The surviving tree, with the durable content of each file.
    DirectoryTree tree;
    // Possible contents of its files with unsynced data.
    std::map<NodeId, PendingContent> files;
  };
  // Returns the state in which exactly the kept changes survive; nullopt if
  // this state is listed only at an earlier point of the log. REQUIRES: `kept`
  // has one element for each of names().
  std::optional<Survivors> With(const std::vector<bool>& kept) const;

 private:
  struct DataChange {
    enum class Kind : uint8_t {
      kWrite,
      kReshape,  // kExt4: a change of shape, itself a journal entry
      kFlush,    // kExt4: auto_da_alloc; keeps all data before it
    };
    Kind kind = Kind::kWrite;
    size_t operation = 0;  // index in the log
    int64_t time = 0;      // nanoseconds since 1970
    // Bytes written or cut off.
    uint64_t begin = 0;
    uint64_t end = 0;
    // kExt4: this change survives only if this many journal entries survive,
    // counted from the first.
    uint64_t journal = 0;
    // Content after the change; null if the change only writes bytes.
    std::shared_ptr<const FileContent> after;
  };
  struct UnsyncedFile {
    std::vector<DataChange> changes;  // oldest first
    std::shared_ptr<const FileContent> now;
    uint64_t smallest_size = 0;  // smallest since the file was durable
    bool was_emptied = false;    // truncated to 0, not closed since
    // Index of the last kSetTimes in the log, and number of its journal entry.
    std::optional<size_t> times_set;
    uint64_t times_journal = 0;
  };

  bool is_ext4() const { return profile_ == DurabilityProfile::kExt4; }
  const FileOperation& OperationAt(size_t index) const {
    return log_.operations()[index];
  }
  // Returns the number of journal entries so far.
  uint64_t JournalLength() const { return committed_ + names_.size(); }

  bool HasNode(const ResolvedOperation& resolved, const DirectoryTree& now);
  void AddName(const ResolvedOperation& resolved);
  void AddData(const ResolvedOperation& resolved, const TreeNode& node);
  void AddFlush(NodeId node, uint64_t journal);
  void Sync(const FileOperation& sync, NodeId node);
  // kWeak: returns the changes of names in the directory, and those they depend
  // on.
  std::vector<bool> ChangesBehind(NodeId directory,
                                  const FileOperation& sync) const;
  void Commit(const std::vector<bool>& chosen);
  void SyncData(NodeId node, const FileOperation& sync);
  void MakeDurable(NodeId node, size_t count);

  // Returns the durable and the newest content of a file with changes. Sizes
  // and blocks are not set yet.
  static PendingContent PendingOf(const TreeNode& durable,
                                  const UnsyncedFile& file);
  std::optional<PendingContent> PendingExt4(const TreeNode& durable,
                                            const UnsyncedFile& file,
                                            uint64_t kept) const;
  void SplitExt4(PendingContent& pending, std::span<const DataChange> writes,
                 uint64_t kept) const;
  void SetPendingTimes(PendingContent& pending, const UnsyncedFile& file,
                       uint64_t kept) const;
  PendingContent PendingWeak(const TreeNode& durable,
                             const UnsyncedFile& file) const;

  const DurabilityProfile profile_;
  const OperationLog& log_;
  DirectoryTree durable_;
  std::vector<ResolvedOperation> names_;
  std::map<NodeId, UnsyncedFile> files_;
  uint64_t committed_ = 0;  // number of durable journal entries
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_UNSYNCED_CHANGES_H_
