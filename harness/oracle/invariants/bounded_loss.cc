// bounded-loss: a restart redoes at most one save interval, and nothing after
// an orderly stop. Each save that failed, and each checkpoint that the plan
// damaged, lets it reach back one interval further. A finished run that deletes
// its checkpoints has nothing to go on from if its end was not seen.
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {

void CheckBoundedLoss(const Evidence& evidence, Check& check) {
  const uint64_t interval = evidence.record.setup.save_interval_steps;
  uint64_t void_saves = 0;
  for (const uint64_t step : evidence.rejected_steps) {
    if (evidence.IsDamaged(step)) ++void_saves;
  }
  for (const auto& [number, generation] : evidence.generations) {
    void_saves += generation.failed_saves;
    const Generation* before = evidence.Before(number);
    if (before == nullptr ||
        (!generation.resumed_step && !generation.cold_start)) {
      continue;
    }
    const bool deleted =
        before->finished && evidence.record.setup.delete_at_success;
    if (deleted && generation.cold_start) continue;
    const bool orderly =
        before->StoppedOrderly() && !evidence.IsDamaged(*before->stop_step);
    if (!orderly && interval == 0) continue;
    check.Instance();
    const uint64_t lost = evidence.LostSteps(generation);
    const uint64_t bound = orderly ? 0 : interval * (1 + void_saves);
    if (lost <= bound) continue;
    check.Breach(orderly ? "after-orderly-stop" : "too-much",
                 fmt::format("generation {} redid {} steps (from step {} of "
                             "{}), expected at most {}",
                             number, lost, generation.resumed_step.value_or(0),
                             before->last_step, bound));
  }
}

}  // namespace gauntlet
