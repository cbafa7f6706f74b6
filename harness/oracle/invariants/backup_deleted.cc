// backup-deleted: a finished run deletes its checkpoints if it was told to; no
// other run does. One whose chief was killed in it, or was told of an error by
// a fault, has done what it could.
#include <algorithm>

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

bool IsChief(const LifeEvents& life) {
  return !life.events.empty() &&
         life.events.front().kind == RecordKind::kLifeBegin &&
         life.events.front().count == 0;
}

bool TellsOfAnError(const RecordFault& fault) {
  return fault.kind == "errno" || fault.kind == "short_write" ||
         fault.kind == "fsync_fails";
}

bool DeletionWasDisturbed(const Evidence& evidence) {
  for (const LifeEvents& life : evidence.record.lives) {
    const auto finished = std::find_if(
        life.events.begin(), life.events.end(), [](const RecordEvent& event) {
          return event.kind == RecordKind::kFinished;
        });
    if (finished == life.events.end() || !IsChief(life)) continue;
    if (life.events.back().kind != RecordKind::kLifeEnd) return true;
    const auto at = static_cast<size_t>(finished - life.events.begin());
    for (const Firing& firing : evidence.firings) {
      // One of every hit is logged at its first.
      const bool then = firing.index > at || firing.fault->always;
      if (firing.life == &life && then && TellsOfAnError(*firing.fault)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

void CheckBackupDeleted(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  if (record.launchers.empty()) return;
  const uint64_t deletions = Deletions(record);
  if (record.setup.delete_at_success && evidence.Done()) {
    check.Instance();
    if (DeletionWasDisturbed(evidence)) return;
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
