// checkpoints-deleted: a finished run deletes its checkpoints if it was told to
// and ends in a finite state; no other run does, nor one of whose workers one
// had not finished by then, nor one whose store a later generation had claimed
// before, nor one whose result its launcher had not acknowledged. The deletion
// is the last finishing chief's: one that was killed in it, or was told of an
// error by a fault there, or found the claim of a late survivor in its store,
// has done what it could; so has one in whose place such a survivor claims, and
// one that a cut keeps from the acknowledgement. What became of earlier ones
// excuses nothing. What such a survivor saves may be left.
#include <algorithm>

#include "harness/oracle/invariants.h"
#include "harness/oracle/late_survivor.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

uint64_t CountDeletions(const Record& record) {
  uint64_t count = 0;
  for (const LifeEvents& life : record.lives) {
    count += static_cast<uint64_t>(std::ranges::count(
        life.events, RecordKind::kBackupDeleted, &RecordEvent::kind));
  }
  return count;
}

bool HasFinishedBy(const LifeEvents& life, int64_t t_ns) {
  return std::ranges::any_of(life.events, [&](const RecordEvent& event) {
    return event.kind == RecordKind::kFinished && event.t_ns <= t_ns;
  });
}

// Whether a worker of the generation deleted the store when another of its had
// not finished. A late survivor may be given its number as the claims go.
bool DeletedTooEarly(const Record& record, const Generation& generation) {
  for (const LifeEvents* life : generation.lives) {
    for (const RecordEvent& event : life->events) {
      if (event.kind != RecordKind::kBackupDeleted) continue;
      if (std::ranges::any_of(generation.lives, [&](const LifeEvents* other) {
            return !HasFinishedBy(*other, event.t_ns) &&
                   !HadSuccessorBefore(record, *other, event.t_ns);
          })) {
        return true;
      }
    }
  }
  return false;
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

// Whether it did so after that time.
bool BeginsASave(const LifeEvents& life, uint64_t step, int64_t after_ns) {
  return std::ranges::any_of(life.events, [&](const RecordEvent& event) {
    return event.kind == RecordKind::kSaveBegin && event.step == step &&
           event.t_ns > after_ns;
  });
}

// Whether a late survivor may have saved it after that time: it finds the store
// deleted, and what it wrote may be its next owner's by its name.
bool MayBeALateSave(const Record& record, const StoredCheckpoint& checkpoint,
                    int64_t t_ns) {
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    if (life.events.empty() || life.events.back().t_ns <= t_ns ||
        !HadSuccessorBefore(record, life, t_ns)) {
      return false;
    }
    bool under_way = false;
    for (const RecordEvent& event : life.events) {
      if (event.step != checkpoint.step || event.t_ns > t_ns) continue;
      if (event.kind == RecordKind::kSaveBegin) under_way = true;
      if (event.kind == RecordKind::kSaveAcknowledged ||
          event.kind == RecordKind::kSaveFailed) {
        under_way = false;
      }
    }
    return under_way || BeginsASave(life, checkpoint.step, t_ns);
  });
}

bool Has(const LifeEvents& life, RecordKind kind) {
  return std::ranges::find(life.events, kind, &RecordEvent::kind) !=
         life.events.end();
}

// Whether the life deleted the store before it said that its result was
// acknowledged, or without.
bool DeletedUnacknowledged(const LifeEvents& life) {
  for (const RecordEvent& event : life.events) {
    if (event.kind == RecordKind::kResultAcknowledged) return false;
    if (event.kind == RecordKind::kBackupDeleted) return true;
  }
  return false;
}

// Whether the acknowledgement may have been lost on its way to a chief that
// waited for it until it gave up.
bool MissedTheAcknowledgement(const Evidence& evidence,
                              const LifeEvents& chief) {
  if (Has(chief, RecordKind::kResultAcknowledged)) return false;
  return std::ranges::any_of(evidence.firings, [&](const Firing& firing) {
    return firing.traits.cuts_links &&
           firing.event().t_ns < chief.events.back().t_ns;
  });
}

bool DeletionWasDisturbed(const Evidence& evidence) {
  const LifeEvents* const life = LastFinishingChief(evidence.record);
  if (life == nullptr) return false;
  if (life->events.back().kind != RecordKind::kLifeEnd) return true;
  if (MissedTheAcknowledgement(evidence, *life)) return true;
  const size_t finished = *FinishedAt(*life);
  if (WasClaimedAfter(evidence.record, *life, finished)) return true;
  for (const Firing& firing : evidence.firings) {
    if (firing.life != life || !firing.traits.tells_error) continue;
    // One of several hits is logged at its first.
    const bool again = (firing.fault->always || firing.fault->hits > 1) &&
                       IsOfADeletion(firing.event().path);
    if (firing.index > finished || again) return true;
  }
  return false;
}

void CheckDeletions(const Evidence& evidence, Check& check) {
  for (const auto& [id, generation] : evidence.generations) {
    if (!DeletedTooEarly(evidence.record, generation)) continue;
    check.Breach("deleted", fmt::format("a backup was deleted before the run "
                                        "was done, by generation {}",
                                        id.number));
  }
  for (const LifeEvents& life : evidence.record.lives) {
    if (!DeletedUnacknowledged(life)) continue;
    check.Breach("unacknowledged",
                 fmt::format("{} deleted the backup before its result was "
                             "acknowledged",
                             NameOf(life)));
  }
  for (const StoreDeletion& deletion : evidence.deletions.of_anothers) {
    check.Breach("deleted",
                 fmt::format("{} deleted the backup of a later generation",
                             NameOf(*deletion.life)));
  }
}

}  // namespace

void CheckBackupDeleted(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  if (record.launchers.empty()) return;
  const uint64_t deletions = CountDeletions(record);
  if (!DeletesStoreAtTheEnd(record)) {
    if (deletions == 0) return;
    check.Instance();
    check.Breach("deleted", "a backup was deleted that was to be kept");
    return;
  }
  check.Instance();
  CheckDeletions(evidence, check);
  if (!evidence.Done() || DeletionWasDisturbed(evidence)) return;
  if (deletions == 0) {
    check.Breach("not-deleted", "finished, and its backup was not deleted");
  }
  const Leftovers& left = record.left;
  if (!left.store_listed) return;
  const LifeEvents* const chief = LastFinishingChief(record);
  const int64_t finished_ns =
      chief == nullptr ? INT64_MAX : chief->events[*FinishedAt(*chief)].t_ns;
  for (const StoredCheckpoint& checkpoint : left.checkpoints) {
    if (MayBeALateSave(record, checkpoint, finished_ns)) continue;
    check.Breach("still-there", fmt::format("finished, and {} is still there",
                                            checkpoint.name));
    break;
  }
}

}  // namespace gauntlet
