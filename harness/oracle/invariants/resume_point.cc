// resume-point: a restart goes on from the newest acknowledged save that the
// plan has not damaged, or from a later one that was begun and verifies; all
// workers from the same. Of one step, a save of a later phase is the newer one.
// What a lying disk forgot in a power cut is owed to nobody; that nothing else
// is read than was begun is. What is gone on from in memory is as far, and is
// what a worker had trained to in an earlier generation.
#include <algorithm>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool WasBegun(const Evidence& evidence, const GenerationId& before,
              const Moment& moment) {
  return std::any_of(
      evidence.generations.begin(), evidence.generations.lower_bound(before),
      [&](const auto& one) { return one.second.begun_saves.contains(moment); });
}

// By that time.
bool WasTrained(const Evidence& evidence, const Moment& moment, int64_t t_ns) {
  return std::ranges::any_of(
      evidence.record.lives, [&](const LifeEvents& life) {
        return std::ranges::any_of(life.events, [&](const RecordEvent& event) {
          const bool trains = event.kind == RecordKind::kStep ||
                              event.kind == RecordKind::kEvaluated ||
                              event.kind == RecordKind::kEpochEnd ||
                              event.kind == RecordKind::kResumed ||
                              event.kind == RecordKind::kInitialized;
          return trains && event.t_ns <= t_ns && event.step == moment.step &&
                 event.phase == moment.phase;
        });
      });
}

Moment NewestGood(const Evidence& evidence, const GenerationId& before) {
  Moment newest{.phase = RecordPhase::kEvaluationDue};  // before all others
  for (const Acknowledged& save : evidence.GoodSavesBefore(before)) {
    newest = std::max(newest, save.moment);
  }
  return newest;
}

}  // namespace

void CheckResumePoint(const Evidence& evidence, Check& check) {
  for (const auto& [id, generation] : evidence.generations) {
    const Moment newest = NewestGood(evidence, id);
    for (const LifeEvents* life : generation.lives) {
      for (const RecordEvent& event : life->events) {
        const bool carries_on = event.kind == RecordKind::kCarriedOn;
        if (event.kind != RecordKind::kResumed && !carries_on) continue;
        check.Instance();
        const Moment from{.step = event.step, .phase = event.phase};
        if (carries_on && from >= newest &&
            !WasTrained(evidence, from, event.t_ns)) {
          check.Breach("unknown-checkpoint",
                       fmt::format("{} carried on from step {}, to which "
                                   "nobody had trained",
                                   NameOf(*life), ToText(from)));
        }
        if (from < newest) {
          check.Breach(
              "stale-resume",
              fmt::format("{} resumed from step {}, but the save of "
                          "step {} was acknowledged",
                          NameOf(*life), ToText(from), ToText(newest)));
        } else if (!carries_on && from > newest &&
                   !WasBegun(evidence, id, from)) {
          check.Breach("unknown-checkpoint",
                       fmt::format("{} resumed from step {}, whose save nobody "
                                   "had begun",
                                   NameOf(*life), ToText(from)));
        }
        if (from != generation.started_at()) {
          check.Breach("ranks-disagree",
                       fmt::format("{} resumed from step {}, another worker "
                                   "from step {}",
                                   NameOf(*life), ToText(from),
                                   ToText(*generation.started_at())));
        }
      }
    }
  }
}

}  // namespace gauntlet
