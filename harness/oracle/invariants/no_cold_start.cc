// no-cold-start: training never starts afresh where saves were acknowledged,
// whatever became of them, unless it was told that it may. What a finished run
// was to delete is there no more.
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {

void CheckNoColdStart(const Evidence& evidence, Check& check) {
  if (evidence.record.setup.allow_cold_start) return;
  uint64_t saves = 0;
  for (const auto& [number, generation] : evidence.generations) {
    if (saves > 0) {
      check.Instance();
      if (generation.cold_start) {
        check.Breach("started-afresh",
                     fmt::format("generation {} started from nothing, {} "
                                 "saves had been acknowledged",
                                 number, saves));
      }
    }
    saves += generation.saves.size();
    if (generation.finished && evidence.record.setup.delete_at_success) {
      saves = 0;
    }
  }
}

}  // namespace gauntlet
