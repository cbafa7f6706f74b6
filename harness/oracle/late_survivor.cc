#include "harness/oracle/late_survivor.h"

#include <algorithm>

namespace gauntlet {
namespace {

// Whether the generation that it claimed by that event of it had a state to
// train on.
bool HasStartedAfter(const LifeEvents& life, const RecordEvent& claim) {
  auto event = life.events.begin() + (&claim - life.events.data()) + 1;
  for (; event != life.events.end(); ++event) {
    if (event->kind == RecordKind::kLeft ||
        event->kind == RecordKind::kGeneration) {
      return false;
    }
    if (event->kind == RecordKind::kInitialized ||
        event->kind == RecordKind::kResumed ||
        event->kind == RecordKind::kCarriedOn) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool HadSuccessorBefore(const Record& record, const LifeEvents& life,
                        int64_t t_ns) {
  return std::ranges::any_of(record.lives, [&](const LifeEvents& other) {
    return other.worker == life.worker && other.life > life.life &&
           !other.events.empty() && other.events.front().t_ns < t_ns;
  });
}

bool HadLateSurvivorAfter(const Record& record, int64_t t_ns) {
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    return !life.events.empty() && life.events.back().t_ns > t_ns &&
           HadSuccessorBefore(record, life, life.events.back().t_ns);
  });
}

int64_t LastClaim(const Record& record) {
  int64_t last = INT64_MIN;
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind != RecordKind::kGeneration) continue;
      if (HasStartedAfter(life, event) ||
          !HadSuccessorBefore(record, life, event.t_ns)) {
        last = std::max(last, event.t_ns);
      }
    }
  }
  return last;
}

}  // namespace gauntlet
