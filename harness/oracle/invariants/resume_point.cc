// resume-point: a restart goes on from the newest acknowledged save that the
// plan has not damaged, or from a later one that was begun and verifies; all
// workers from the same. Of one step, a save of a later phase is the newer one.
// What a lying disk forgot in a power cut is owed to nobody; that nothing else
// is read than was begun is.
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
        if (event.kind != RecordKind::kResumed) continue;
        check.Instance();
        const Moment from{.step = event.step, .phase = event.phase};
        if (from < newest) {
          check.Breach(
              "too-old",
              fmt::format("{} resumed from step {}, but the save of "
                          "step {} was acknowledged",
                          NameOf(*life), ToText(from), ToText(newest)));
        } else if (from > newest && !WasBegun(evidence, id, from)) {
          check.Breach("from-nowhere",
                       fmt::format("{} resumed from step {}, whose save nobody "
                                   "had begun",
                                   NameOf(*life), ToText(from)));
        }
        if (from != generation.resumed) {
          check.Breach("not-the-same",
                       fmt::format("{} resumed from step {}, another worker "
                                   "from step {}",
                                   NameOf(*life), ToText(from),
                                   ToText(*generation.resumed)));
        }
      }
    }
  }
}

}  // namespace gauntlet
