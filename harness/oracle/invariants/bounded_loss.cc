// bounded-loss: a restart redoes at most one save interval, and nothing after
// an orderly stop. Each save that failed, and each checkpoint that the plan
// damaged, lets it reach back one interval further. A run that deletes its
// checkpoints has nothing to go on from once all its workers have finished, if
// its end was not seen. What a lying disk forgets in a power cut has no bound.
// Where workers of the generation before are still there, nothing is redone of
// what any of them had trained.
#include <algorithm>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {

namespace {

void CheckRejoin(const Generation& generation, Check& check) {
  const std::optional<Moment> at = generation.started_at();
  if (!generation.brought || (!at && !generation.cold_start)) return;
  check.Instance();
  const Moment from = at.value_or(Moment{});
  if (from >= *generation.brought) return;
  check.Breach("redone-after-rejoin",
               fmt::format("generation {} went on from step {}, though a "
                           "worker that came to it had trained to step {}",
                           generation.id.number, ToText(from),
                           ToText(*generation.brought)));
}

}  // namespace

void CheckBoundedLoss(const Evidence& evidence, Check& check) {
  const uint64_t interval = evidence.record.setup.save_interval_steps;
  uint64_t void_saves = 0;
  for (const auto* bad : {&evidence.rejected, &evidence.passed_over}) {
    void_saves += static_cast<uint64_t>(std::ranges::count_if(
        *bad,
        [&](const Moment& moment) { return evidence.IsDamaged(moment); }));
  }
  for (const auto& [id, generation] : evidence.generations) {
    void_saves += generation.failed_saves;
    CheckRejoin(generation, check);
    const Generation* before = evidence.Before(id);
    if (before == nullptr ||
        (!generation.started_at() && !generation.cold_start)) {
      continue;
    }
    const bool deleted = evidence.record.setup.delete_at_success &&
                         evidence.HaveAllFinished(*before);
    if (deleted && generation.cold_start) continue;
    if (evidence.disk_forgot && before->id.era < id.era) continue;
    const bool orderly =
        before->StoppedOrderly() && !evidence.IsDamaged(*before->stop);
    if (!orderly && interval == 0) continue;
    check.Instance();
    const uint64_t lost = evidence.LostSteps(generation);
    const uint64_t bound = orderly ? 0 : interval * (1 + void_saves);
    if (lost <= bound) continue;
    check.Breach(orderly ? "after-orderly-stop" : "too-much",
                 fmt::format("generation {} redid {} steps (from step {} of "
                             "{}), expected at most {}",
                             id.number, lost, before->last_step - lost,
                             before->last_step, bound));
  }
}

}  // namespace gauntlet
