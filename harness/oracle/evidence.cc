#include "harness/oracle/evidence.h"

#include <algorithm>

#include "harness/oracle/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kReject = "ckpt.reject";

// A life, or what lies between two times that it left one to rejoin, belongs to
// the last generation that it names: some of its events, and all of a life that
// never got so far, name none.
uint64_t GenerationOf(const LifeEvents& life) {
  uint64_t generation = 0;
  for (const RecordEvent& event : life.events) {
    if (event.generation != 0) generation = event.generation;
  }
  return generation;
}

// The last moment that it came to by training, or took over.
std::optional<Moment> TrainedTo(const LifeEvents& life) {
  std::optional<Moment> trained;
  for (const RecordEvent& event : life.events) {
    if (event.kind == RecordKind::kStep ||
        event.kind == RecordKind::kEvaluated ||
        event.kind == RecordKind::kEpochEnd ||
        event.kind == RecordKind::kCarriedOn) {
      trained = Moment{.step = event.step, .phase = event.phase};
    }
  }
  return trained;
}

bool IsOfSave(RecordKind kind) {
  return kind == RecordKind::kSaveBegin ||
         kind == RecordKind::kSaveAcknowledged ||
         kind == RecordKind::kSaveFailed;
}

void Take(Generation& generation, const RecordEvent& event,
          const Moment& moment) {
  switch (event.kind) {
    case RecordKind::kResumed:
      generation.resumed = moment;
      break;
    case RecordKind::kCarriedOn:
      generation.carried_on = moment;
      generation.last_step = std::max(generation.last_step, event.step);
      break;
    case RecordKind::kInitialized:
      generation.cold_start = true;
      break;
    case RecordKind::kStep:
      generation.last_step = std::max(generation.last_step, event.step);
      break;
    case RecordKind::kStopAgreed:
      generation.stop = moment;
      break;
    case RecordKind::kSaveBegin:
      generation.begun_saves.insert(moment);
      break;
    case RecordKind::kSaveAcknowledged:
      generation.saves.push_back({moment, event.digest, event.path});
      generation.begun_saves.insert(moment);
      break;
    case RecordKind::kSaveFailed:
      ++generation.failed_saves;
      break;
    case RecordKind::kFinished:
      ++generation.finished_workers;
      break;
    default:
      break;
  }
}

// Whether a fault kept the claiming life from telling what it set aside.
bool WasKeptFromTelling(const LifeEvents& life,
                        const std::vector<Firing>& firings) {
  const auto went_on = [](const RecordEvent& event) {
    return event.kind == RecordKind::kResumed ||
           event.kind == RecordKind::kCarriedOn ||
           event.kind == RecordKind::kLifeEnd;
  };
  return std::ranges::none_of(life.events, went_on) ||
         std::ranges::any_of(firings, [&](const Firing& firing) {
           return IsSameLife(*firing.life, life) &&
                  firing.event().path == kReject;
         });
}

}  // namespace

Evidence::Evidence(const Record& from) : record(from) {
  FindFirings();
  for (const LifeEvents& life : record.lives) AddLife(life);
  NameCheckpoints();
  FindDamage();
}

void Evidence::FindFirings() {
  for (const LifeEvents& life : record.lives) {
    for (size_t i = 0; i < life.events.size(); ++i) {
      const RecordEvent& event = life.events[i];
      if (event.kind != RecordKind::kFaultFired) continue;
      for (const RecordFault& fault : record.faults) {
        if (fault.id == event.detail) firings.push_back({&fault, &life, i});
      }
    }
  }
  std::stable_sort(firings.begin(), firings.end(),
                   [](const Firing& a, const Firing& b) {
                     return a.event().t_ns < b.event().t_ns;
                   });
  for (const Firing& firing : firings) {
    const FaultTraits traits = TraitsOf(*firing.fault);
    if (traits.disk_forgets) {
      disk_forgot = true;
    } else if (traits.damages_store) {
      if (firing.fault->always) damage_budget.reset();
      if (damage_budget) ++*damage_budget;
    }
  }
}

void Evidence::AddLife(const LifeEvents& life) {
  const auto has_left = [](const RecordEvent& event) {
    return event.kind == RecordKind::kLeft;
  };
  auto begin = life.events.begin();
  std::optional<Moment> brought;
  while (true) {
    const auto left = std::find_if(begin, life.events.end(), has_left);
    if (begin == life.events.begin() && left == life.events.end()) {
      return AddPart(life, brought);
    }
    const auto end = left == life.events.end() ? left : std::next(left);
    parts_.push_back(
        {.worker = life.worker, .life = life.life, .events = {begin, end}});
    AddPart(parts_.back(), brought);
    if (const auto trained = TrainedTo(parts_.back())) brought = trained;
    if (left == life.events.end()) return;
    begin = end;
  }
}

void Evidence::AddPart(const LifeEvents& life,
                       const std::optional<Moment>& brought) {
  const uint64_t number = GenerationOf(life);
  if (number == 0) return;
  const GenerationId id = {.era = EraOf(life), .number = number};
  Generation& generation = generations[id];
  generation.id = id;
  generation.lives.push_back(&life);
  if (brought) {
    generation.brought =
        std::max(generation.brought.value_or(*brought), *brought);
  }
  MomentOfLife now;
  for (const RecordEvent& event : life.events) {
    now.Take(event);
    Take(generation, event, now.At(event.step));
  }
}

// In the order of generations: a name may be given to another state later.
void Evidence::NameCheckpoints() {
  for (auto& [id, generation] : generations) {
    for (const LifeEvents* life : generation.lives) {
      MomentOfLife now;
      for (const RecordEvent& event : life->events) {
        now.Take(event);
        if (event.kind == RecordKind::kGeneration) {
          names.Rename(event.path, id.era);
          if (const auto parent = names.Find(event.path)) {
            generation.parent = parent->moment;
          }
        } else if (event.kind == RecordKind::kResumed ||
                   event.kind == RecordKind::kSaveBegin ||
                   event.kind == RecordKind::kSaveAcknowledged) {
          names.Say(event.path, {.moment = now.At(event.step), .era = id.era});
        }
      }
    }
    // What its workers loaded they know best.
    if (generation.resumed) generation.parent = generation.resumed;
  }
}

void Evidence::FindPassedOver(const Generation& generation) {
  if (!generation.parent) return;
  const bool kept =
      std::ranges::any_of(generation.lives, [&](const LifeEvents* life) {
        return std::ranges::find(life->events, RecordKind::kGeneration,
                                 &RecordEvent::kind) != life->events.end() &&
               WasKeptFromTelling(*life, firings);
      });
  if (!kept) return;
  for (const auto& [id, before] : generations) {
    if (id >= generation.id) break;
    for (const Acknowledged& save : before.saves) {
      if (save.moment > *generation.parent && !rejected.contains(save.moment) &&
          IsOwed(save, before, generation.id)) {
        passed_over.insert(save.moment);
      }
    }
  }
}

void Evidence::FindDamage() {
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind != RecordKind::kRejected) continue;
      if (const auto of = names.Find(event.path)) rejected.insert(of->moment);
      AddDamaged(event.path, EraOf(life));
    }
  }
  for (const StoredCheckpoint& checkpoint : record.left.checkpoints) {
    if (!checkpoint.valid) AddDamaged(checkpoint.name, End().era);
  }
  for (const auto& [id, generation] : generations) FindPassedOver(generation);
  if (!damage_budget || *damage_budget > 0) {
    damaged_.insert(passed_over.begin(), passed_over.end());
  }
}

void Evidence::AddDamaged(std::string_view path, uint64_t era) {
  const auto of = names.Find(path);
  const bool by_a_fault = !damage_budget || *damage_budget > 0;
  if (of && (by_a_fault || IsForgotten(path, era))) damaged_.insert(of->moment);
}

bool Generation::StoppedOrderly() const {
  return stop &&
         std::any_of(saves.begin(), saves.end(), [&](const Acknowledged& save) {
           return save.moment == *stop;
         });
}

uint64_t Evidence::EraOf(const LifeEvents& life) const {
  if (life.events.empty()) return 0;
  const auto is_before = [&](const Firing& firing) {
    return TraitsOf(*firing.fault).cuts_power &&
           firing.life->life < life.life &&
           firing.event().t_ns <= life.events.front().t_ns;
  };
  return static_cast<uint64_t>(
      std::count_if(firings.begin(), firings.end(), is_before));
}

GenerationId Evidence::End() const {
  uint64_t era = 0;
  for (const LifeEvents& life : record.lives) era = std::max(era, EraOf(life));
  return {.era = era, .number = UINT64_MAX};
}

bool Evidence::IsForgotten(std::string_view path, uint64_t era) const {
  const auto written = names.Find(path);
  return disk_forgot && written && written->era < era;
}

bool Evidence::IsDamaged(const Moment& moment) const {
  return damaged_.contains(moment);
}

bool Evidence::MayBeRetiredBefore(const GenerationId& id,
                                  const Moment& moment) const {
  if (record.setup.keep <= 0) return false;
  std::set<Moment> later;
  for (const auto& [generation, of] : generations) {
    if (generation >= id) break;
    for (const Acknowledged& save : of.saves) {
      if (save.moment > moment) later.insert(save.moment);
    }
    // One that was adopted is as good as one that was acknowledged.
    if (of.parent && *of.parent > moment) later.insert(*of.parent);
  }
  return later.size() >= static_cast<uint64_t>(record.setup.keep);
}

// A save from before a cut that a disk forgot in is owed to those who come
// after one that found it.
bool Evidence::IsOwed(const Acknowledged& save, const Generation& of,
                      const GenerationId& before) const {
  if (!disk_forgot || of.id.era == before.era) return true;
  return std::any_of(generations.lower_bound({.era = before.era, .number = 0}),
                     generations.lower_bound(before), [&](const auto& later) {
                       return later.second.parent == save.moment;
                     });
}

std::vector<Acknowledged> Evidence::GoodSavesBefore(
    const GenerationId& id) const {
  std::vector<Acknowledged> good;
  for (const auto& [generation, of] : generations) {
    if (generation >= id) break;
    for (const Acknowledged& save : of.saves) {
      if (!IsDamaged(save.moment) && !MayBeRetiredBefore(id, save.moment) &&
          IsOwed(save, of, id)) {
        good.push_back(save);
      }
    }
  }
  return good;
}

const Generation* Evidence::Before(const GenerationId& id) const {
  const auto found = generations.lower_bound(id);
  return found == generations.begin() ? nullptr : &std::prev(found)->second;
}

bool Evidence::HaveAllFinished(const Generation& generation) const {
  return generation.finished_workers > 0 &&
         generation.finished_workers >=
             static_cast<int>(generation.lives.size());
}

bool Evidence::IsSaving(int life, int64_t t_ns) const {
  const RecordEvent* last = nullptr;
  for (const LifeEvents& one : record.lives) {
    // Lives of one number are of one time, unless workers restart singly.
    if (one.life != life && !record.setup.rejoins) continue;
    for (const RecordEvent& event : one.events) {
      if (!IsOfSave(event.kind) || event.t_ns > t_ns) continue;
      if (last == nullptr || event.t_ns >= last->t_ns) last = &event;
    }
  }
  return last != nullptr && last->kind == RecordKind::kSaveBegin;
}

bool Evidence::Done() const {
  return !record.launchers.empty() && record.launchers.back().result &&
         record.launchers.back().result->status == "done";
}

uint64_t Evidence::LostSteps(const Generation& generation) const {
  const Generation* before = Before(generation.id);
  const std::optional<Moment> at = generation.started_at();
  const bool started = at || generation.cold_start;
  if (before == nullptr || !started) return 0;
  const uint64_t from = at ? at->step : 0;
  return before->last_step > from ? before->last_step - from : 0;
}

bool IsSameLife(const LifeEvents& a, const LifeEvents& b) {
  return a.worker == b.worker && a.life == b.life;
}

std::string NameOf(const LifeEvents& life) {
  return fmt::format("worker {}, life {}", life.worker, life.life);
}

}  // namespace gauntlet
