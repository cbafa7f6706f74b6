#include "harness/oracle/store_deletions.h"

#include <algorithm>

namespace gauntlet {
namespace {

struct Deletion {
  const LifeEvents* life = nullptr;
  uint64_t generation = 0;
  int64_t claimed_ns = 0;
  int64_t finished_ns = 0;
  int64_t t_ns = 0;
};

// Whether the generation's number was given out again after that time: only
// where its claim was gone.
bool IsGivenOutAgain(const Record& record, uint64_t generation, int64_t t_ns) {
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    return std::ranges::any_of(life.events, [&](const RecordEvent& event) {
      return event.kind == RecordKind::kGeneration && event.t_ns > t_ns &&
             event.generation <= generation;
    });
  });
}

// By lives that had finished; nothing else is one. Who died in it had got to
// the claims where their numbers are given out again.
std::vector<Deletion> DeletionsIn(const Record& record,
                                  const LifeEvents& life) {
  std::vector<Deletion> deletions;
  Deletion now = {.life = &life};
  bool finished = false;
  for (const RecordEvent& event : life.events) {
    if (event.generation != 0) now.generation = event.generation;
    if (event.kind == RecordKind::kGeneration) now.claimed_ns = event.t_ns;
    if (event.kind == RecordKind::kFinished) {
      now.finished_ns = event.t_ns;
      finished = true;
    }
    if (event.kind == RecordKind::kBackupDeleted && finished) {
      now.t_ns = event.t_ns;
      deletions.push_back(now);
    }
  }
  if (!deletions.empty() || !finished || !record.setup.delete_at_success ||
      life.events.back().kind == RecordKind::kLifeEnd) {
    return deletions;
  }
  now.t_ns = life.events.back().t_ns;
  if (IsGivenOutAgain(record, now.generation, now.t_ns)) {
    deletions.push_back(now);
  }
  return deletions;
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

StoreDeletions FindStoreDeletions(const Record& record) {
  std::vector<Deletion> all;
  for (const LifeEvents& life : record.lives) {
    const std::vector<Deletion> of_life = DeletionsIn(record, life);
    all.insert(all.end(), of_life.begin(), of_life.end());
  }
  std::ranges::sort(all, {}, &Deletion::t_ns);
  StoreDeletions found;
  for (const Deletion& deletion : all) {
    const int64_t before_ns = found.at_ns.empty() ? 0 : found.at_ns.back();
    if (IsOfAnothers(record, deletion,
                     std::max(deletion.claimed_ns, before_ns))) {
      found.of_anothers.push_back(deletion.life);
    } else {
      found.at_ns.push_back(deletion.t_ns);
    }
  }
  return found;
}

}  // namespace gauntlet
