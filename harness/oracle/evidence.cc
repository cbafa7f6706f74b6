#include "harness/oracle/evidence.h"

#include <algorithm>
#include <charconv>

#include "harness/oracle/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// A life belongs to the last generation that it names: some of its events, and
// all of a life that never got so far, name none.
uint64_t GenerationOf(const LifeEvents& life) {
  uint64_t generation = 0;
  for (const RecordEvent& event : life.events) {
    if (event.generation != 0) generation = event.generation;
  }
  return generation;
}

void Take(Generation& generation, const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kGeneration:
      if (const auto step = StepOfPath(event.path)) {
        generation.parent_step = *step;
      }
      break;
    case RecordKind::kResumed:
      generation.resumed_step = event.step;
      break;
    case RecordKind::kInitialized:
      generation.cold_start = true;
      break;
    case RecordKind::kStep:
      generation.last_step = std::max(generation.last_step, event.step);
      break;
    case RecordKind::kStopAgreed:
      generation.stop_step = event.step;
      break;
    case RecordKind::kSaveBegin:
      generation.begun_saves.insert(event.step);
      break;
    case RecordKind::kSaveAcknowledged:
      generation.saves.push_back({event.step, event.digest, event.path});
      generation.begun_saves.insert(event.step);
      break;
    case RecordKind::kSaveFailed:
      ++generation.failed_saves;
      break;
    case RecordKind::kFinished:
      generation.finished = true;
      break;
    default:
      break;
  }
}

std::vector<Firing> FindFirings(const Record& record) {
  std::vector<Firing> firings;
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
  return firings;
}

}  // namespace

Evidence::Evidence(const Record& from) : record(from) {
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind != RecordKind::kRejected) continue;
      if (const auto step = StepOfPath(event.path))
        rejected_steps.insert(*step);
    }
    const uint64_t number = GenerationOf(life);
    if (number == 0) continue;
    Generation& generation = generations[number];
    generation.number = number;
    generation.lives.push_back(&life);
    for (const RecordEvent& event : life.events) Take(generation, event);
  }
  firings = FindFirings(record);
  for (const Firing& firing : firings) {
    if (!TraitsOf(*firing.fault).damages_store) continue;
    if (firing.fault->always) damage_budget.reset();
    if (damage_budget) ++*damage_budget;
  }
}

bool Generation::StoppedOrderly() const {
  return stop_step &&
         std::any_of(saves.begin(), saves.end(), [&](const Acknowledged& save) {
           return save.step == *stop_step;
         });
}

bool Evidence::IsDamaged(uint64_t step) const {
  if (damage_budget && *damage_budget == 0) return false;
  if (rejected_steps.contains(step)) return true;
  return std::any_of(record.left.checkpoints.begin(),
                     record.left.checkpoints.end(),
                     [&](const StoredCheckpoint& checkpoint) {
                       return checkpoint.step == step && !checkpoint.valid;
                     });
}

bool Evidence::MayBeRetiredBefore(uint64_t number, uint64_t step) const {
  if (record.setup.keep <= 0) return false;
  std::set<uint64_t> later;
  for (const auto& [generation, of] : generations) {
    if (generation >= number) break;
    for (const Acknowledged& save : of.saves) {
      if (save.step > step) later.insert(save.step);
    }
    // One that was adopted is as good as one that was acknowledged.
    if (of.parent_step.value_or(0) > step) later.insert(*of.parent_step);
  }
  return later.size() >= static_cast<uint64_t>(record.setup.keep);
}

std::vector<Acknowledged> Evidence::GoodSavesBefore(uint64_t number) const {
  std::vector<Acknowledged> good;
  for (const auto& [generation, of] : generations) {
    if (generation >= number) break;
    for (const Acknowledged& save : of.saves) {
      if (!IsDamaged(save.step) && !MayBeRetiredBefore(number, save.step)) {
        good.push_back(save);
      }
    }
  }
  return good;
}

const Generation* Evidence::Before(uint64_t number) const {
  const auto found = generations.lower_bound(number);
  return found == generations.begin() ? nullptr : &std::prev(found)->second;
}

bool Evidence::Done() const {
  return !record.launchers.empty() && record.launchers.back().result &&
         record.launchers.back().result->status == "done";
}

uint64_t Evidence::LostSteps(const Generation& generation) const {
  const Generation* before = Before(generation.number);
  const bool started = generation.resumed_step || generation.cold_start;
  if (before == nullptr || !started) return 0;
  const uint64_t from = generation.resumed_step.value_or(0);
  return before->last_step > from ? before->last_step - from : 0;
}

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::optional<uint64_t> StepOfPath(std::string_view path) {
  std::string_view name = BaseName(path);
  constexpr std::string_view kPrefix = "step-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  uint64_t step = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end == name.data()) return std::nullopt;
  return step;
}

std::string NameOf(const LifeEvents& life) {
  return fmt::format("worker {}, life {}", life.worker, life.life);
}

bool IsOfSave(const RecordEvent& event) {
  return event.kind == RecordKind::kSaveBegin ||
         event.kind == RecordKind::kSaveAcknowledged ||
         event.kind == RecordKind::kSaveFailed;
}

}  // namespace gauntlet
