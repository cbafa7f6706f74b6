#include "harness/oracle/store_deletions.h"

#include <algorithm>

#include "harness/oracle/fault_traits.h"

namespace gauntlet {
namespace {

// What a chief may have done to its store.
struct Deletion {
  const LifeEvents* life = nullptr;
  uint64_t generation = 0;
  int64_t claimed_ns = 0;
  int64_t finished_ns = 0;
  int64_t t_ns = 0;
  bool said = false;  // else it died where it would have
};

// Of chiefs that had finished; nothing else is one.
std::vector<Deletion> DeletionsIn(const LifeEvents& life) {
  std::vector<Deletion> deletions;
  Deletion now = {.life = &life};
  bool is_chief = false;
  bool finished = false;
  bool acknowledged = false;
  for (const RecordEvent& event : life.events) {
    if (event.kind == RecordKind::kLeft) {
      is_chief = finished = acknowledged = false;
    } else if (event.kind == RecordKind::kGeneration) {
      is_chief = true;
      now.generation = event.generation;
      now.claimed_ns = event.t_ns;
    } else if (event.kind == RecordKind::kFinished) {
      now.finished_ns = event.t_ns;
      finished = true;
    } else if (event.kind == RecordKind::kResultAcknowledged) {
      acknowledged = true;
    } else if (event.kind == RecordKind::kBackupDeleted && is_chief &&
               finished) {
      now.t_ns = event.t_ns;
      now.said = true;
      deletions.push_back(now);
    }
  }
  if (is_chief && finished && acknowledged && !now.said &&
      life.events.back().kind != RecordKind::kLifeEnd) {
    now.t_ns = life.events.back().t_ns;
    deletions.push_back(now);
  }
  return deletions;
}

std::vector<Deletion> DeletionsIn(const Record& record) {
  std::vector<Deletion> all;
  for (const LifeEvents& life : record.lives) {
    const std::vector<Deletion> of_life = DeletionsIn(life);
    all.insert(all.end(), of_life.begin(), of_life.end());
  }
  std::ranges::sort(all, {}, &Deletion::t_ns);
  return all;
}

// Whether the next claim has the number, or an earlier one: only where its own
// claim was gone. A disk that forgets claims has numbers given out again, too.
bool WasGivenOutAgain(const Record& record, const Deletion& deletion) {
  if (std::ranges::any_of(record.faults, [](const RecordFault& fault) {
        return TraitsOf(fault).disk_forgets;
      })) {
    return false;
  }
  const RecordEvent* next = nullptr;
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      const bool claims =
          event.kind == RecordKind::kGeneration && event.t_ns > deletion.t_ns;
      if (claims && (next == nullptr || event.t_ns < next->t_ns)) next = &event;
    }
  }
  return next != nullptr && next->generation <= deletion.generation;
}

// Whether a later generation had claimed the store that it found there. Who
// comes between its end and its deletion may still lose what it claimed.
bool IsOfAnothers(const Record& record, const Deletion& deletion,
                  int64_t begun_ns) {
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    return std::ranges::any_of(life.events, [&](const RecordEvent& event) {
      return event.kind == RecordKind::kGeneration &&
             event.generation > deletion.generation && event.t_ns > begun_ns &&
             event.t_ns < deletion.finished_ns;
    });
  });
}

}  // namespace

bool DeletesStoreAtTheEnd(const Record& record) {
  return record.setup.delete_at_success &&
         std::ranges::none_of(record.lives, [](const LifeEvents& life) {
           return std::ranges::any_of(life.events, [](const auto& event) {
             return event.kind == RecordKind::kFinished && event.count > 0;
           });
         });
}

StoreDeletions FindStoreDeletions(const Record& record) {
  StoreDeletions found;
  if (!DeletesStoreAtTheEnd(record)) return found;
  for (const Deletion& deletion : DeletionsIn(record)) {
    const int64_t before_ns = found.all.empty() ? 0 : found.all.back().t_ns;
    const StoreDeletion one = {.life = deletion.life, .t_ns = deletion.t_ns};
    if (IsOfAnothers(record, deletion,
                     std::max(deletion.claimed_ns, before_ns))) {
      if (deletion.said) found.of_anothers.push_back(one);
    } else if (deletion.said || WasGivenOutAgain(record, deletion)) {
      found.all.push_back(one);
    }
  }
  return found;
}

}  // namespace gauntlet
