// bounded-loss: a restart redoes at most one save interval (and, where training
// goes on beside saves, the steps taken while the newest was under way), and
// nothing after an orderly stop, whatever ended before its first step in
// between. Each save that failed and each checkpoint that the plan damaged,
// where they lie between what it goes on from and what had been done, lets it
// reach back one interval further, and where nothing is left of what retention
// kept, each that it had removed. A run that deletes its checkpoints has
// nothing to go on from once all its workers have finished, if its end was not
// seen. What a lying disk forgets in a power cut has no bound. Where workers of
// the generation before are still there, nothing is redone of what any of them
// had trained.
#include <algorithm>
#include <set>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/generation.h"
#include "harness/oracle/invariants.h"
#include "harness/oracle/last_words.h"
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

// The furthest that a worker of the generation had trained that nothing
// happened to.
std::optional<Moment> HeldBySurvivors(const Evidence& evidence,
                                      const Generation& generation) {
  std::optional<Moment> held;
  for (const LifeEvents* life : generation.lives) {
    const auto hits_it = [&](const Firing& firing) {
      const RecordFault& fault = *firing.fault;
      return IsSameLife(*firing.life, *life) &&
             (firing.traits.tells_error ||
              ExplainsDeath(fault, evidence.record));
    };
    const std::optional<Moment> trained = TrainedTo(*life);
    if (!trained || std::ranges::any_of(evidence.firings, hits_it)) continue;
    held = std::max(held.value_or(*trained), *trained);
  }
  return held;
}

std::set<int> WorkersOf(const Generation& generation) {
  std::set<int> workers;
  for (const LifeEvents* life : generation.lives) workers.insert(life->worker);
  return workers;
}

// When a chief, of whom alone the launcher hears it, first came further than
// all before, until that time: by a step, or by the state that it took over.
int64_t LastProgress(const Record& record, int64_t until_ns) {
  uint64_t furthest = 0;
  int64_t when_ns = 0;
  for (const LifeEvents& life : record.lives) {
    const bool of_chief =
        std::ranges::find(life.events, RecordKind::kGeneration,
                          &RecordEvent::kind) != life.events.end();
    if (!of_chief) continue;
    for (const RecordEvent& event : life.events) {
      const bool comes = event.kind == RecordKind::kStep ||
                         event.kind == RecordKind::kCarriedOn;
      if (!comes || event.t_ns > until_ns || event.step < furthest) continue;
      when_ns =
          event.step > furthest ? event.t_ns : std::min(when_ns, event.t_ns);
      furthest = event.step;
    }
  }
  return when_ns;
}

int LastLifeOf(const Generation& generation) {
  int last = 0;
  for (const LifeEvents* life : generation.lives) {
    last = std::max(last, life->life);
  }
  return last;
}

// Whether the two had not the same workers, or a life of the job from the one
// to the other had another number of them: that starts all of them again.
bool WorkersChanged(const Evidence& evidence, const Generation& before,
                    const Generation& after) {
  if (WorkersOf(before) != WorkersOf(after)) return true;
  const RunSetup& setup = evidence.record.setup;
  const int last = LastLifeOf(after);
  for (int life = LastLifeOf(before); life < last; ++life) {
    if (WorkersIn(setup, life) != WorkersIn(setup, last)) return true;
  }
  return false;
}

// Whether one had done all and left for good, before another was lost at the
// end.
bool AnyWasDone(const Generation& generation) {
  constexpr int kDone = 0;
  return std::ranges::any_of(generation.lives, [](const LifeEvents* life) {
    const RecordEvent& last = life->events.back();
    return last.kind == RecordKind::kLifeEnd && last.count == kDone;
  });
}

// Whether what happened between the two generations may be more than survivors
// can make up for: an attempt that a hang, the network, the disk or a notice
// stands in the way of, too many deaths in a row without a new step, one that
// is done, or another set of workers, starts all of them again.
bool MayLoseMemory(const Evidence& evidence, const Generation& before,
                   const Generation& after) {
  constexpr int kDeathsInARow = 2;
  if (AnyWasDone(before)) return true;
  if (WorkersChanged(evidence, before, after)) return true;
  const int64_t progress_ns = LastProgress(evidence.record, after.started_ns);
  int deaths = 0;
  for (const Firing& firing : evidence.firings) {
    const RecordFault& fault = *firing.fault;
    if (firing.event().t_ns > after.started_ns) continue;
    if (DiesAtOnce(fault)) {
      // One host goes as silently as if it were cut off.
      if (firing.traits.cuts_power || fault.of_one_host) return true;
      if (firing.event().t_ns >= progress_ns) ++deaths;
    } else if (firing.traits.tells_error ||
               ExplainsDeath(fault, evidence.record) ||
               (firing.traits.damages_store &&
                LeftToBeRestarted(*firing.life))) {
      return true;
    }
  }
  return deaths > kDeathsInARow;
}

// Where workers rejoin, and some that nothing happened to held a later state.
void CheckMemory(const Evidence& evidence, const Generation& generation,
                 Check& check) {
  if (!evidence.record.setup.rejoins || !generation.redone) return;
  const Generation& before = evidence.generations.at(generation.redone->of);
  const std::optional<Moment> held = HeldBySurvivors(evidence, before);
  if (!held || MayLoseMemory(evidence, before, generation)) return;
  check.Instance();
  const Moment from = generation.started_at().value_or(Moment{});
  if (from >= *held) return;
  check.Breach("memory-lost",
               fmt::format("generation {} went on from step {}, though a "
                           "worker that nothing happened to had trained to "
                           "step {} in generation {}",
                           generation.id.number, ToText(from), ToText(*held),
                           before.id.number));
}

// Damaged checkpoints of which that was known when the generation began.
std::set<Moment> KnownDamaged(const Evidence& evidence,
                              const Generation& generation) {
  std::set<Moment> known;
  for (const auto* bad : {&evidence.rejected, &evidence.passed_over}) {
    for (const auto& [moment, when] : *bad) {
      if (when <= generation.started_ns && evidence.IsDamaged(moment)) {
        known.insert(moment);
      }
    }
  }
  return known;
}

// What those before the generation had saved, or adopted, and may have removed
// for later ones, where each of these is known to be damaged.
std::set<Moment> RetiredForNothing(const Evidence& evidence,
                                   const Generation& generation,
                                   const std::set<Moment>& damaged) {
  // Beside the newest ones retention keeps the newest finite one: behind what
  // was gone on from nothing is asked for.
  const Moment from = generation.started_at().value_or(Moment{});
  std::set<Moment> retired;
  for (const auto& [id, earlier] : evidence.generations) {
    if (id >= generation.id) break;
    std::vector<Acknowledged> had = earlier.saves;
    if (earlier.parent) had.push_back({.moment = *earlier.parent});
    for (const Acknowledged& save : had) {
      if (!evidence.IsOwed(save, earlier, generation.id)) continue;
      const Moment& moment = save.moment;
      if (evidence.MayBeRetiredBefore(generation.id, moment)) {
        retired.insert(moment);
      } else if (moment > from && !damaged.contains(moment)) {
        return {};
      }
    }
  }
  return retired;
}

// Moments of which a save was due between the two and did not come to be, or
// was damaged, as far as was known when the generation began; or was removed
// for later ones, of which none was left.
std::set<uint64_t> VoidSaves(const Evidence& evidence,
                             const Generation& generation) {
  const Redone& redone = *generation.redone;
  std::set<uint64_t> steps;
  const auto add = [&](uint64_t step) {
    if (step > redone.from && step <= redone.to) steps.insert(step);
  };
  for (const auto& [id, earlier] : evidence.generations) {
    if (id >= generation.id) break;
    std::ranges::for_each(earlier.failed_saves, add);
  }
  const std::set<Moment> damaged = KnownDamaged(evidence, generation);
  for (const Moment& moment : damaged) add(moment.step);
  for (const Moment& moment :
       RetiredForNothing(evidence, generation, damaged)) {
    add(moment.step);
  }
  return steps;
}

// The save of the generation that it never saw the end of.
std::optional<uint64_t> UnfinishedSave(const Generation& generation) {
  std::set<Moment> open = generation.begun_saves;
  for (const Acknowledged& save : generation.saves) open.erase(save.moment);
  std::erase_if(open, [&](const Moment& begun) {
    return std::ranges::find(generation.failed_saves, begun.step) !=
           generation.failed_saves.end();
  });
  if (open.empty()) return std::nullopt;
  return open.rbegin()->step;
}

// Steps that were taken while the newest save was under way: where training
// does not wait for it, up to the next one that is due, which does. Where the
// generation had carried on from memory, the save that the one before it left
// unfinished was the newest until then.
uint64_t StepsBesideSaves(const Evidence& evidence, const Redone& redone) {
  if (!evidence.record.setup.saves_beside) return 0;
  const uint64_t interval = evidence.record.setup.save_interval_steps;
  uint64_t steps = 0;
  auto at = evidence.generations.find(redone.of);
  while (true) {
    const Generation& generation = at->second;
    const std::optional<uint64_t> begun = UnfinishedSave(generation);
    const uint64_t last = std::min(generation.last_step, redone.to);
    if (begun && *begun > redone.from && *begun < last) {
      steps += std::min(last - *begun, interval);
    }
    const bool from_memory = generation.carried_on || !generation.has_started();
    if (!from_memory || at == evidence.generations.begin()) return steps;
    --at;
  }
}

void CheckRestart(const Evidence& evidence, const Generation& generation,
                  Check& check) {
  const uint64_t interval = evidence.record.setup.save_interval_steps;
  const Redone& redone = *generation.redone;
  const Generation& before = evidence.generations.at(redone.of);
  const bool deleted = before.id.store < generation.id.store ||
                       (generation.cold_start &&
                        evidence.MayHaveDeleted(before.id, generation.id));
  if (deleted) return;
  if (evidence.disk_forgot && before.id.era < generation.id.era) return;
  const bool orderly =
      before.StoppedOrderly() && !evidence.IsDamaged(*before.stop);
  if (!orderly && interval == 0) return;
  check.Instance();
  const uint64_t bound =
      orderly ? 0
              : interval * (1 + VoidSaves(evidence, generation).size()) +
                    StepsBesideSaves(evidence, redone);
  if (redone.steps() <= bound) return;
  check.Breach(orderly ? "after-orderly-stop" : "excess-rework",
               fmt::format("generation {} redid {} steps (from step {} of {}), "
                           "expected at most {}",
                           generation.id.number, redone.steps(), redone.from,
                           redone.to, bound));
}

}  // namespace

void CheckBoundedLoss(const Evidence& evidence, Check& check) {
  for (const auto& [id, generation] : evidence.generations) {
    CheckRejoin(generation, check);
    CheckMemory(evidence, generation, check);
    if (generation.redone) CheckRestart(evidence, generation, check);
  }
}

}  // namespace gauntlet
