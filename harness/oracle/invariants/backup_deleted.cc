// backup-deleted: a finished run deletes its checkpoints if it was told to; no
// other run does, nor one of whose workers one had not finished. Who finished
// out of its launcher's sight has deleted them all the same. The deletion is
// the last finishing chief's: one that was killed in it, or was told of an
// error by a fault there, or found the claim of a late survivor in its store,
// has done what it could; so has one in whose place such a survivor claims, or
// saves. What became of earlier ones excuses nothing.
#include <algorithm>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Deletions {
  uint64_t count = 0;
  uint64_t too_early = 0;  // before all workers of the generation had finished
};

Deletions FindDeletions(const Evidence& evidence) {
  Deletions deletions;
  for (const auto& [id, generation] : evidence.generations) {
    for (const LifeEvents* life : generation.lives) {
      const auto found = std::ranges::count(
          life->events, RecordKind::kBackupDeleted, &RecordEvent::kind);
      deletions.count += static_cast<uint64_t>(found);
      if (found > 0 && !evidence.HaveAllFinished(generation)) {
        ++deletions.too_early;
      }
    }
  }
  return deletions;
}

bool IsChief(const LifeEvents& life) {
  return !life.events.empty() &&
         life.events.front().kind == RecordKind::kLifeBegin &&
         life.events.front().count == 0;
}

// The points that a deletion comes to.
bool IsOfADeletion(std::string_view point) {
  return point == "ckpt.backup.delete" || point == "ckpt.load.read" ||
         point.starts_with("ckpt.retire.");
}

std::optional<size_t> FinishedAt(const LifeEvents& life) {
  const auto finished =
      std::ranges::find(life.events, RecordKind::kFinished, &RecordEvent::kind);
  if (finished == life.events.end() || !IsChief(life)) return std::nullopt;
  return static_cast<size_t>(finished - life.events.begin());
}

const LifeEvents* LastFinishingChief(const Record& record) {
  const LifeEvents* last = nullptr;
  for (const LifeEvents& life : record.lives) {
    if (!FinishedAt(life)) continue;
    if (last == nullptr || life.life > last->life) last = &life;
  }
  return last;
}

// Whether somebody's claim came to the store of a run that had finished by
// then.
bool WasClaimedAfter(const Record& record, const LifeEvents& chief,
                     size_t finished) {
  const auto is_fenced = [](const RecordEvent& event) {
    return event.kind == RecordKind::kFencedOut;
  };
  if (std::any_of(chief.events.begin() + static_cast<ptrdiff_t>(finished),
                  chief.events.end(), is_fenced)) {
    return true;
  }
  const int64_t t_ns = chief.events[finished].t_ns;
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    return std::ranges::any_of(life.events, [&](const RecordEvent& event) {
      return event.kind == RecordKind::kGeneration && event.t_ns > t_ns;
    });
  });
}

// Whether an earlier life came to a save after that time: it finds the store
// deleted, and what it wrote may be its next owner's by its name.
bool WasSavedToAfter(const Record& record, const LifeEvents& chief,
                     size_t finished) {
  const int64_t t_ns = chief.events[finished].t_ns;
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    return life.life < chief.life &&
           std::ranges::any_of(life.events, [&](const RecordEvent& event) {
             return event.kind == RecordKind::kSaveFailed && event.t_ns > t_ns;
           });
  });
}

bool DeletionWasDisturbed(const Evidence& evidence) {
  const LifeEvents* const life = LastFinishingChief(evidence.record);
  if (life == nullptr) return false;
  if (life->events.back().kind != RecordKind::kLifeEnd) return true;
  const size_t finished = *FinishedAt(*life);
  if (WasClaimedAfter(evidence.record, *life, finished) ||
      WasSavedToAfter(evidence.record, *life, finished)) {
    return true;
  }
  for (const Firing& firing : evidence.firings) {
    if (firing.life != life || !firing.traits.tells_error) continue;
    // One of every hit is logged at its first.
    const bool again =
        firing.fault->always && IsOfADeletion(firing.event().path);
    if (firing.index > finished || again) return true;
  }
  return false;
}

}  // namespace

void CheckBackupDeleted(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  if (record.launchers.empty()) return;
  const Deletions deletions = FindDeletions(evidence);
  if (!record.setup.delete_at_success && deletions.count > 0) {
    check.Instance();
    check.Breach("deleted", "a backup was deleted that was to be kept");
    return;
  }
  if (!record.setup.delete_at_success) return;
  check.Instance();
  if (deletions.too_early > 0) {
    check.Breach("deleted", "a backup was deleted before the run was done");
  }
  if (!evidence.Done() || DeletionWasDisturbed(evidence)) return;
  if (deletions.count == 0) {
    check.Breach("not-deleted", "finished, and its backup was not deleted");
  }
  const Leftovers& left = record.left;
  if (left.store_listed && !left.checkpoints.empty()) {
    check.Breach("still-there", fmt::format("finished, and {} is still there",
                                            left.checkpoints.front().name));
  }
}

}  // namespace gauntlet
