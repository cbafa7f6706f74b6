// A walk along a log: the watched directories after its first operations, and
// what of them is not durable.
#ifndef GAUNTLET_CHAOS_CRASH_LOG_WALK_H_
#define GAUNTLET_CHAOS_CRASH_LOG_WALK_H_

#include <cstdint>

#include "chaos/crash/crash_state.h"
#include "chaos/crash/directory_tree.h"
#include "chaos/crash/unsynced_changes.h"
#include "chaos/trace/log/operation_log.h"

namespace gauntlet {

// A copy goes on from the same point.
class LogWalk {
 public:
  // Before the first operation. The log outlives this.
  explicit LogWalk(const OperationLog& log);

  // So many operations have happened.
  uint64_t position() const { return position_; }
  // Goes on to a later position. kDataLoss, in one line, for an operation that
  // cannot be after those before it.
  Status AdvanceTo(uint64_t position);

  const DirectoryTree& now() const { return now_; }
  // REQUIRES: kExt4 or kWeak.
  const UnsyncedChanges& unsynced(DurabilityProfile profile) const;

  // Returns the directories of a crash state at this position.
  // kInvalidArgument, as one line: the log has no such state.
  Result<DirectoryTree> TreeOf(const CrashState& state) const;

 private:
  Status AdvanceOne();
  Result<DirectoryTree> TornTree(const CrashState& state) const;
  Result<DirectoryTree> PowerLossTree(const CrashState& state) const;

  const OperationLog* log_;
  uint64_t position_ = 0;
  DirectoryTree now_;
  UnsyncedChanges ext4_;
  UnsyncedChanges weak_;
};

// The contents that the outcomes name, in the tree of the survivors.
// REQUIRES: each file is among the survivors', and allows its outcome.
DirectoryTree TreeWith(const UnsyncedChanges::Survivors& survivors,
                       UnsyncedData other_files,
                       const std::vector<FileOutcome>& files);

// Operations that were done before the program began: the files that were there
// already.
uint64_t CountInitialOperations(const OperationLog& log);

// A crash may come after the first `operations`: the first point, and each
// after a crash point (IsCrashPoint), but not within the operations of one
// call. A write and its implied sync are two.
bool IsCut(const OperationLog& log, uint64_t operations);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_LOG_WALK_H_
