#include "harness/oracle/peers.h"

#include <algorithm>

namespace gauntlet {

int WorkersIn(const RunSetup& setup, int life) {
  const std::vector<int>& by_life = setup.workers_by_life;
  if (by_life.empty()) return setup.workers;
  const auto index = static_cast<size_t>(std::max(life, 1)) - 1;
  return by_life[std::min(index, by_life.size() - 1)];
}

uint64_t GenerationAt(const Firing& firing) {
  uint64_t generation = 0;
  const std::vector<RecordEvent>& events = firing.life->events;
  for (size_t i = 0; i <= firing.index; ++i) {
    if (events[i].generation != 0) generation = events[i].generation;
    if (events[i].kind == RecordKind::kLeft) generation = 0;
  }
  return generation;
}

std::vector<const LifeEvents*> PeersOf(const Evidence& evidence,
                                       const Firing& firing) {
  std::vector<const LifeEvents*> peers;
  const auto add = [&](const LifeEvents& life) {
    if (!IsSameLife(life, *firing.life)) peers.push_back(&life);
  };
  const uint64_t number = GenerationAt(firing);
  if (evidence.record.setup.rejoins && number != 0) {
    const auto generation =
        evidence.generations.find(evidence.IdOf(*firing.life, number));
    if (generation == evidence.generations.end()) return peers;
    for (const LifeEvents* life : generation->second.lives) add(*life);
    return peers;
  }
  for (const LifeEvents& life : evidence.record.lives) {
    const bool together =
        evidence.record.setup.rejoins || life.life == firing.life->life;
    if (together) add(life);
  }
  return peers;
}

bool IsAnyOf(const std::vector<const LifeEvents*>& lives,
             const LifeEvents& life) {
  return std::ranges::any_of(
      lives, [&](const LifeEvents* one) { return IsSameLife(*one, life); });
}

bool IsBefore(const Firing& firing, const Firing& other) {
  return IsSameLife(*firing.life, *other.life) && firing.index < other.index &&
         GenerationAt(firing) == GenerationAt(other);
}

}  // namespace gauntlet
