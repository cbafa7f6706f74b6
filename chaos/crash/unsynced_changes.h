// Changes that a power loss may lose at a point of a log, under one profile:
// the rules of chaos/sim/disk/sim_disk.h for all that a traced program can do.
//
// A sync covers the operations that ended before it began. A block that was
// written twice since then is found old or as it was last, not in between.
//
// kExt4: ext4 as mounted by default. It never lists a state that ext4 cannot
// leave, and leaves out some that it can.
// - The journal. Changes of names (create, mkdir, symlink, link, rename,
//   exchange, unlink, rmdir, enter, leave), of modes and times, and changes of
//   a file's shape (truncate, allocate, punch_hole, zero_range, collapse_range,
//   insert_range) survive as a prefix in their order. Any sync (sync,
//   sync_data, sync_directory) commits all of them; sync_file_system also all
//   data; sync_range nothing.
// - Data. A block that overwrites durable bytes is old, new, or torn at a
//   sector of 512 bytes, whatever the journal holds. Bytes behind the durable
//   end survive as a prefix, and only together with all journal entries that
//   were made before they were written: their length is in the journal too. A
//   hole or an allocated block without bytes is filled whole or not, under the
//   same condition.
// - A change of shape that survived finds all that was written to the file
//   before it. Where it did not survive, the file is as it was durable.
// - auto_da_alloc. A rename onto a file survives only with the data of the
//   renamed one. If a file that was truncated to 0 is closed, journal entries
//   after the close survive only with its data. Neither holds for exchange and
//   link.
// - enter: the bytes come with the name, as others may have synced them.
//
// kWeak: all that POSIX leaves open.
// - Names. Any subset of their changes survives, each whole. sync_directory
//   makes durable those in its directory and those that they build on,
//   sync_file_system all; a file's sync makes no name durable. Modes and times
//   are never lost.
// - Data. sync and sync_data make data and length durable. Each block that was
//   written or cut off is old, new or torn; the length is the old, the new, the
//   smallest in between, or a multiple of the block among these.
// - allocate, punch_hole, zero_range, collapse_range and insert_range are
//   durable at once, with all that was written to the file before.
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
  // REQUIRES: kExt4 or kWeak. The log outlives this.
  UnsyncedChanges(DurabilityProfile profile, const OperationLog& log);

  // The next operation, and the tree after it.
  void Add(const ResolvedOperation& resolved, const DirectoryTree& now);

  // The changes that may be lost, oldest first. Under kExt4 they survive as a
  // prefix.
  const std::vector<ResolvedOperation>& names() const { return names_; }

  struct Survivors {
    // With the durable content of each file.
    DirectoryTree tree;
    // Contents that may be left of the files in it with unsynced data.
    std::map<NodeId, PendingContent> files;
  };
  // The state that some of the changes lead to; nullopt if only an earlier
  // point of the log has it. REQUIRES: one for each of names().
  std::optional<Survivors> With(const std::vector<bool>& kept) const;

 private:
  struct DataChange {
    enum class Kind : uint8_t {
      kWrite,
      kReshape,  // kExt4: a change of shape; a journal entry itself
      kFlush,  // kExt4: by auto_da_alloc; with the journal all before is there
    };
    Kind kind = Kind::kWrite;
    size_t operation = 0;  // index in the log
    int64_t time = 0;      // nanoseconds since 1970
    // Bytes that it wrote or cut off.
    uint64_t begin = 0;
    uint64_t end = 0;
    // kExt4: survives, or holds, only if so many journal entries do.
    uint64_t journal = 0;
    // Not of a write: the content after it.
    std::shared_ptr<const FileContent> after;
  };
  struct UnsyncedFile {
    std::vector<DataChange> changes;  // oldest first
    std::shared_ptr<const FileContent> now;
    uint64_t smallest_size = 0;  // since it was durable
    bool was_emptied = false;    // and not closed since
    // The last set_times: its index, and the journal entry.
    std::optional<size_t> times_set;
    uint64_t times_journal = 0;
  };

  bool is_ext4() const { return profile_ == DurabilityProfile::kExt4; }
  const FileOperation& OperationAt(size_t index) const {
    return log_.operations()[index];
  }
  // So many journal entries were made.
  uint64_t JournalLength() const { return committed_ + names_.size(); }

  bool HasNode(const ResolvedOperation& resolved, const DirectoryTree& now);
  void AddName(const ResolvedOperation& resolved);
  void AddData(const ResolvedOperation& resolved, const TreeNode& node);
  void AddFlush(NodeId node, uint64_t journal);
  void Sync(const FileOperation& sync, NodeId node);
  // kWeak: the changes of names in the directory, and those they build on.
  std::vector<bool> ChangesBehind(NodeId directory,
                                  const FileOperation& sync) const;
  void Commit(const std::vector<bool>& chosen);
  void SyncData(NodeId node, const FileOperation& sync);
  void MakeDurable(NodeId node, size_t count);

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
  uint64_t committed_ = 0;  // journal entries
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_UNSYNCED_CHANGES_H_
