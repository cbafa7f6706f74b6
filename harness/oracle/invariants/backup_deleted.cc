// backup-deleted: a finished run deletes its checkpoints if it was told to; no
// other run does.
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

uint64_t Deletions(const Record& record) {
  uint64_t count = 0;
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind == RecordKind::kBackupDeleted) ++count;
    }
  }
  return count;
}

}  // namespace

void CheckBackupDeleted(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  if (record.launchers.empty()) return;
  const uint64_t deletions = Deletions(record);
  if (record.setup.delete_at_success && evidence.Done()) {
    check.Instance();
    if (deletions == 0) {
      check.Breach("not-deleted", "finished, and its backup was not deleted");
    }
    const Leftovers& left = record.left;
    if (left.store_listed && !left.checkpoints.empty()) {
      check.Breach("still-there", fmt::format("finished, and {} is still there",
                                              left.checkpoints.front().name));
    }
  } else if (deletions > 0) {
    check.Instance();
    check.Breach("deleted", evidence.Done()
                                ? "a backup was deleted that was to be kept"
                                : "a backup was deleted before the run was "
                                  "done");
  } else if (record.setup.delete_at_success) {
    check.Instance();  // not done, not deleted
  }
}

}  // namespace gauntlet
