// no-cold-start: training never starts afresh where saves were acknowledged,
// whatever became of them, unless it was told that it may. What a run deletes,
// or began to delete, of which all workers had finished is there no more. After
// a power cut on a disk that lies nothing of what came before it may be left:
// then a start afresh is due, but not where the generation itself finds one of
// those saves, void or damaged.
#include <algorithm>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool FindsOneOf(const std::set<Moment>& saves, const Evidence& evidence,
                const Generation& generation) {
  for (const LifeEvents* life : generation.lives) {
    for (const RecordEvent& event : life->events) {
      if (event.kind != RecordKind::kFencedFound &&
          event.kind != RecordKind::kRejected) {
        continue;
      }
      const auto found = evidence.names.Find(event.path);
      if (found && saves.contains(found->moment)) return true;
    }
  }
  return false;
}

// What was acknowledged before a generation.
struct Saved {
  std::set<Moment> saves;
  uint64_t era = 0;  // in which the newest of them was made, or found again

  void Take(const Generation& generation) {
    for (const Acknowledged& save : generation.saves) saves.insert(save.moment);
    if (!generation.saves.empty() || generation.parent) {
      era = generation.id.era;
    }
  }
};

}  // namespace

void CheckNoColdStart(const Evidence& evidence, Check& check) {
  if (evidence.record.setup.allow_cold_start) return;
  Saved before;
  for (const auto& [id, generation] : evidence.generations) {
    if (!before.saves.empty()) {
      check.Instance();
      const bool may_be_gone = evidence.disk_forgot && before.era < id.era;
      if (generation.cold_start &&
          (!may_be_gone || FindsOneOf(before.saves, evidence, generation))) {
        check.Breach("cold-start",
                     fmt::format("generation {} started from nothing, saves of "
                                 "{} moments had been acknowledged",
                                 id.number, before.saves.size()));
      }
    }
    before.Take(generation);
    if (evidence.MayHaveDeleted(generation)) before.saves.clear();
  }
}

}  // namespace gauntlet
