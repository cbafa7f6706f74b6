// replicas-agree: all workers of a generation hold equal bits after every step,
// evaluation and epoch, where they resume and where they finish.
#include <map>
#include <tuple>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct First {
  const LifeEvents* life;
  const RecordEvent* event;
};

bool IsCompared(RecordKind kind) {
  return kind == RecordKind::kStep || kind == RecordKind::kEvaluated ||
         kind == RecordKind::kEpochEnd || kind == RecordKind::kResumed ||
         kind == RecordKind::kCarriedOn || kind == RecordKind::kFinished;
}

}  // namespace

void CheckReplicasAgree(const Evidence& evidence, Check& check) {
  for (const auto& [id, generation] : evidence.generations) {
    std::map<std::tuple<uint64_t, RecordPhase, RecordKind>, First> firsts;
    for (const LifeEvents* life : generation.lives) {
      for (const RecordEvent& event : life->events) {
        if (!IsCompared(event.kind)) continue;
        const auto [at, fresh] = firsts.try_emplace(
            {event.step, event.phase, event.kind}, First{life, &event});
        const First& first = at->second;
        if (fresh || first.life == life) continue;
        // Losses and counts are of the sum that all took part in: states tell.
        const bool told = !event.digest.empty() || !first.event->digest.empty();
        if (told) check.Instance();
        if (event.digest == first.event->digest &&
            event.loss_bits == first.event->loss_bits &&
            event.count == first.event->count) {
          continue;
        }
        check.Breach(
            "replica-mismatch",
            fmt::format("{} at step {}: {} has state {} and loss {:08x}, {} "
                        "has {} and {:08x}",
                        RecordKindName(event.kind), event.step,
                        NameOf(*first.life), first.event->digest,
                        first.event->loss_bits, NameOf(*life), event.digest,
                        event.loss_bits));
      }
    }
  }
}

}  // namespace gauntlet
