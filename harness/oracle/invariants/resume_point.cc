// resume-point: a restart goes on from the newest acknowledged save that the
// plan has not damaged, or from a later one that was begun and verifies; all
// workers from the same.
#include <algorithm>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool WasBegun(const Evidence& evidence, uint64_t number, uint64_t step) {
  return std::any_of(
      evidence.generations.begin(), evidence.generations.lower_bound(number),
      [&](const auto& one) { return one.second.begun_saves.contains(step); });
}

}  // namespace

void CheckResumePoint(const Evidence& evidence, Check& check) {
  for (const auto& [number, generation] : evidence.generations) {
    uint64_t newest = 0;
    for (const Acknowledged& save : evidence.GoodSavesBefore(number)) {
      newest = std::max(newest, save.step);
    }
    for (const LifeEvents* life : generation.lives) {
      for (const RecordEvent& event : life->events) {
        if (event.kind != RecordKind::kResumed) continue;
        check.Instance();
        if (event.step < newest) {
          check.Breach("too-old",
                       fmt::format("{} resumed from step {}, but the save of "
                                   "step {} was acknowledged",
                                   NameOf(*life), event.step, newest));
        } else if (event.step > newest &&
                   !WasBegun(evidence, number, event.step)) {
          check.Breach("from-nowhere",
                       fmt::format("{} resumed from step {}, whose save nobody "
                                   "had begun",
                                   NameOf(*life), event.step));
        }
        if (event.step != generation.resumed_step) {
          check.Breach(
              "not-the-same",
              fmt::format("{} resumed from step {}, another worker "
                          "from step {}",
                          NameOf(*life), event.step, *generation.resumed_step));
        }
      }
    }
  }
}

}  // namespace gauntlet
