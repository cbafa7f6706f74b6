// grace: a notice leads all workers to one agreed step, a save of it, and out,
// within the grace period. A run that was at its end may finish instead.
#include <algorithm>

#include "harness/oracle/invariants.h"
#include "harness/oracle/last_words.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

const RecordEvent* FindAfter(const LifeEvents& life, size_t index,
                             RecordKind kind) {
  for (size_t i = index; i < life.events.size(); ++i) {
    if (life.events[i].kind == kind) return &life.events[i];
  }
  return nullptr;
}

// The last one, where it rejoined.
const Generation* GenerationOf(const Evidence& evidence,
                               const LifeEvents& life) {
  const Generation* last = nullptr;
  for (const auto& [id, generation] : evidence.generations) {
    for (const LifeEvents* one : generation.lives) {
      if (IsSameLife(*one, life)) last = &generation;
    }
  }
  return last;
}

void CheckStop(const Generation& generation, Check& check) {
  for (const LifeEvents* life : generation.lives) {
    const RecordEvent* stop = FindAfter(*life, 0, RecordKind::kStopAgreed);
    if (stop == nullptr || stop->step == generation.stop->step) continue;
    check.Breach("not-one-step",
                 fmt::format("{} stopped at step {}, another worker at step {}",
                             NameOf(*life), stop->step, generation.stop->step));
  }
  if (generation.StoppedOrderly()) return;
  // no-spontaneous-exit decides whether that may be.
  if (std::ranges::all_of(generation.lives, [](const LifeEvents* life) {
        return LeftUnsaved(*life);
      })) {
    return;
  }
  check.Breach("not-saved", fmt::format("all stopped at step {}, which was "
                                        "never saved",
                                        ToText(*generation.stop)));
}

}  // namespace

void CheckGrace(const Evidence& evidence, Check& check) {
  for (const Firing& firing : evidence.firings) {
    const RecordFault& fault = *firing.fault;
    if (!firing.traits.gives_notice || fault.grace_ns <= 0) continue;
    const LifeEvents& life = *firing.life;
    check.Instance();
    const RecordEvent* end =
        FindAfter(life, firing.index, RecordKind::kLifeEnd);
    if (end == nullptr) {
      check.Breach(
          "killed",
          fmt::format("{} did not leave within its grace of "
                      "{:.1f} s",
                      NameOf(life), static_cast<double>(fault.grace_ns) / 1e9));
      continue;
    }
    const int64_t took = end->t_ns - firing.event().t_ns;
    if (took > fault.grace_ns) {
      check.Breach("late",
                   fmt::format("{} left after {:.3f} s, its grace was {:.3f} s",
                               NameOf(life), static_cast<double>(took) / 1e9,
                               static_cast<double>(fault.grace_ns) / 1e9));
    }
    if (FindAfter(life, 0, RecordKind::kFinished) != nullptr) continue;
    const Generation* generation = GenerationOf(evidence, life);
    if (generation != nullptr && generation->stop) {
      CheckStop(*generation, check);
    } else {
      check.Breach("no-agreement",
                   fmt::format("{} left without an agreed step to stop at",
                               NameOf(life)));
    }
  }
}

}  // namespace gauntlet
