// Walks along a log. At each position, holds the watched directories as the
// operations so far left them, and the changes that are not yet durable.
#ifndef GAUNTLET_CHAOS_CRASH_LOG_WALK_H_
#define GAUNTLET_CHAOS_CRASH_LOG_WALK_H_

#include <cstdint>

#include "chaos/crash/crash_state.h"
#include "chaos/crash/directory_tree.h"
#include "chaos/crash/unsynced_changes.h"
#include "chaos/trace/log/operation_log.h"

namespace gauntlet {

// A copy can continue from the same position.
class LogWalk {
 public:
  // Starts before the first operation. The log must outlive this.
  explicit LogWalk(const OperationLog& log);

  // Returns the number of operations that have happened.
  uint64_t position() const { return position_; }
  // Advances to a later position. kDataLoss, one line: an operation cannot
  // follow those before it.
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

// Returns the survivors' tree. There, a file with unsynced data has the content
// of its outcome in `files`; if it is not listed, its data is kept or lost as
// `other_files` says. REQUIRES: survivors.files has each of `files` and allows
// its outcome.
DirectoryTree TreeWith(const UnsyncedChanges::Survivors& survivors,
                       UnsyncedData other_files,
                       const std::vector<FileOutcome>& files);

// Returns the number of operations that describe the files present before the
// program began.
uint64_t CountInitialOperations(const OperationLog& log);

// Returns true if a crash may come after the first `operations` of the log:
// - exactly the initial ones (CountInitialOperations), or
// - more, if the last is a crash point (IsCrashPoint) and no operation of the
//   same call follows. After a write, an operation of the same call may follow:
//   its implied sync.
bool IsCut(const OperationLog& log, uint64_t operations);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_LOG_WALK_H_
