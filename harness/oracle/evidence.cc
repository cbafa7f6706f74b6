#include "harness/oracle/evidence.h"

#include <algorithm>
#include <string_view>

#include "engine/worker_exit_code.h"
#include "harness/oracle/fault_traits.h"
#include "harness/oracle/late_survivor.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kReject = "ckpt.reject";

bool IsOfSave(RecordKind kind) {
  return kind == RecordKind::kSaveBegin ||
         kind == RecordKind::kSaveAcknowledged ||
         kind == RecordKind::kSaveFailed;
}

// Of "…/step-000000010-g1.tmp/model-00001-of-00002.safetensors" the directory,
// without what says that it is being written.
std::string_view CheckpointOfFile(std::string_view path) {
  constexpr std::string_view kBeingWritten = ".tmp";
  std::string_view name = BaseName(path.substr(0, path.rfind('/')));
  if (name.ends_with(kBeingWritten)) name.remove_suffix(kBeingWritten.size());
  return name;
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

// Whether somebody lived on beyond the restart that followed it: then the power
// stayed. A worker may be killed in the write that was to be torn before.
bool CutNobody(const Record& record, const Firing& firing) {
  const int64_t t_ns = firing.event().t_ns;
  int64_t restart_ns = INT64_MAX;
  for (const LifeEvents& life : record.lives) {
    if (life.life <= firing.life->life || life.events.empty()) continue;
    const int64_t begin_ns = life.events.front().t_ns;
    if (begin_ns > t_ns) restart_ns = std::min(restart_ns, begin_ns);
  }
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    return !life.events.empty() && life.events.front().t_ns <= t_ns &&
           life.events.back().t_ns > restart_ns;
  });
}

bool HasClaimed(const LifeEvents& life) {
  return std::ranges::find(life.events, RecordKind::kGeneration,
                           &RecordEvent::kind) != life.events.end();
}

// Whether the chief that had finished said that it had deleted the store; or
// died without a word, or was told of an error and left, once its result was
// acknowledged: nobody deletes before.
bool BeganToDelete(const LifeEvents& chief,
                   const std::vector<Firing>& firings) {
  const auto finished = std::ranges::find(chief.events, RecordKind::kFinished,
                                          &RecordEvent::kind);
  if (finished == chief.events.end()) return false;
  if (std::any_of(finished, chief.events.end(), [](const auto& event) {
        return event.kind == RecordKind::kBackupDeleted;
      })) {
    return true;
  }
  if (std::none_of(finished, chief.events.end(), [](const auto& event) {
        return event.kind == RecordKind::kResultAcknowledged;
      })) {
    return false;
  }
  const RecordEvent& last = chief.events.back();
  if (last.kind == RecordKind::kLeft) return false;
  if (last.kind != RecordKind::kLifeEnd) return true;
  return last.count != 0 &&
         std::ranges::any_of(firings, [&](const Firing& firing) {
           return firing.traits.tells_error && IsSameLife(*firing.life, chief);
         });
}

// Whether it is a save that failed as the disk was full.
bool HadNoRoom(const RecordEvent& event) {
  return event.kind == RecordKind::kSaveFailed &&
         event.reason == RecordReason::kDiskFull;
}

}  // namespace

Evidence::Evidence(const Record& from)
    : record(from), deletions(FindStoreDeletions(from)) {
  FindFirings();
  for (const LifeEvents& life : record.lives) AddLife(life);
  FindRedone();
  NameCheckpoints();
  FindNotFinite();
  FindFreed();
  FindDamagedFiles();
  FindDamage();
}

void Evidence::FindFirings() {
  for (const LifeEvents& life : record.lives) {
    for (size_t i = 0; i < life.events.size(); ++i) {
      const RecordEvent& event = life.events[i];
      if (event.kind != RecordKind::kFaultFired) continue;
      for (const RecordFault& fault : record.faults) {
        if (fault.id != event.detail) continue;
        Firing firing = {&fault, TraitsOf(fault), &life, i};
        if (firing.traits.cuts_power && CutNobody(record, firing)) {
          firing.traits = kDeathOfOne;
        }
        firings.push_back(firing);
      }
    }
  }
  std::stable_sort(firings.begin(), firings.end(),
                   [](const Firing& a, const Firing& b) {
                     return a.event().t_ns < b.event().t_ns;
                   });
  disk_forgot = std::ranges::any_of(
      firings, [](const Firing& firing) { return firing.traits.disk_forgets; });
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
  const GenerationId id = IdOf(life, number);
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
    generation.Take(event, now);
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
          names.Verified(event.path, id.era);
          if (const auto parent = names.Find(event.path)) {
            generation.parent = parent->moment;
          }
        } else if (event.kind == RecordKind::kResumed ||
                   event.kind == RecordKind::kSaveBegin ||
                   event.kind == RecordKind::kSaveAcknowledged) {
          names.Say(event.path, {.moment = now.Of(event), .era = id.era});
        }
      }
    }
    // What its workers loaded they know best.
    if (generation.resumed) generation.parent = generation.resumed;
  }
}

void Evidence::FindNotFinite() {
  for (const LifeEvents& life : record.lives) {
    MomentOfLife now;
    for (const RecordEvent& event : life.events) {
      now.Take(event);
      if (event.count == 0) continue;
      if (event.kind == RecordKind::kSaveAcknowledged ||
          event.kind == RecordKind::kResumed) {
        not_finite.insert(now.Of(event));
      } else if (event.kind == RecordKind::kGeneration) {
        const auto parent = names.Find(event.path);
        if (parent) not_finite.insert(parent->moment);
      }
    }
  }
}

// In the order of generations: late ones may not come to where others were.
void Evidence::FindRedone() {
  const Generation* furthest = nullptr;
  uint64_t reached = 0;
  for (auto& [id, generation] : generations) {
    if (!generation.has_started()) continue;
    const uint64_t from = generation.started_at().value_or(Moment{}).step;
    if (furthest != nullptr) {
      generation.redone =
          Redone{.from = from, .to = reached, .of = furthest->id};
    }
    if (furthest == nullptr || from != reached ||
        generation.last_step > reached) {
      furthest = &generation;
    }
    reached = std::max(from, generation.last_step);
  }
}

// By a chief whose newest save has failed.
void Evidence::FindFreed() {
  for (const LifeEvents& life : record.lives) {
    const RecordEvent* save = nullptr;
    for (const RecordEvent& event : life.events) {
      if (IsOfSave(event.kind) || event.kind == RecordKind::kGeneration) {
        save = &event;
      }
      const bool removes = event.kind == RecordKind::kRetired &&
                           save != nullptr && HadNoRoom(*save);
      if (!removes) continue;
      if (const auto of = names.Find(event.path)) freed_.insert(of->moment);
    }
    const bool says_its_end =
        !life.events.empty() && life.events.back().kind == RecordKind::kLifeEnd;
    if (save != nullptr && HadNoRoom(*save) && !says_its_end) {
      any_freed_ = true;
    }
  }
}

// What is of a save goes by its name while it is being written, too.
void Evidence::FindDamagedFiles() {
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind != RecordKind::kDamaged) continue;
      const auto fault =
          std::ranges::find(record.faults, event.detail, &RecordFault::id);
      if (fault == record.faults.end() || !TraitsOf(*fault).damages_store) {
        continue;
      }
      const std::string_view name = CheckpointOfFile(event.path);
      if (const auto of = names.Find(name)) {
        damaged_files[of->moment].emplace(name);
      }
    }
  }
}

void Evidence::FindPassedOver(const Generation& generation) {
  if (!generation.parent) return;
  std::optional<int64_t> claimed_ns;
  for (const LifeEvents* life : generation.lives) {
    const auto claim = std::ranges::find(life->events, RecordKind::kGeneration,
                                         &RecordEvent::kind);
    if (claim != life->events.end() && WasKeptFromTelling(*life, firings)) {
      claimed_ns = claim->t_ns;
    }
  }
  if (!claimed_ns) return;
  for (const auto& [id, before] : generations) {
    if (id >= generation.id) break;
    for (const Acknowledged& save : before.saves) {
      // Between the newest ones and the newest finite one, which the parent is
      // then, retention leaves none.
      const bool retired =
          MayBeRetiredBefore(generation.id, save.moment) &&
          !MayBeRetiredBefore(generation.id, *generation.parent);
      if (save.moment > *generation.parent && !retired &&
          !rejected.contains(save.moment) &&
          IsOwed(save, before, generation.id)) {
        passed_over.try_emplace(save.moment, *claimed_ns);
      }
    }
  }
}

void Evidence::FindDamage() {
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind != RecordKind::kRejected) continue;
      if (const auto of = names.Find(event.path)) {
        const auto first = rejected.try_emplace(of->moment, event.t_ns).first;
        first->second = std::min(first->second, event.t_ns);
      }
      AddDamaged(event.path, EraOf(life));
    }
  }
  for (const StoredCheckpoint& checkpoint : record.left.checkpoints) {
    if (!checkpoint.valid) AddDamaged(checkpoint.name, End().era);
  }
  for (const auto& [id, generation] : generations) FindPassedOver(generation);
  for (const auto& [moment, when] : passed_over) {
    if (damaged_files.contains(moment)) damaged_.insert(moment);
  }
}

void Evidence::AddDamaged(std::string_view path, uint64_t era) {
  const auto of = names.Find(path);
  if (!of) return;
  if (damaged_files.contains(of->moment) || IsForgotten(path, era)) {
    damaged_.insert(of->moment);
  }
}

uint64_t Evidence::EraOf(const LifeEvents& life) const {
  if (life.events.empty()) return 0;
  const auto is_before = [&](const Firing& firing) {
    return firing.traits.cuts_power && firing.life->life < life.life &&
           firing.event().t_ns <= life.events.front().t_ns;
  };
  return static_cast<uint64_t>(
      std::count_if(firings.begin(), firings.end(), is_before));
}

// By when the chief claimed the number: who joins it later finds the same
// store.
uint64_t Evidence::StoreOf(const LifeEvents& life, uint64_t number) const {
  if (deletions.all.empty()) return 0;
  const auto said =
      std::ranges::find(life.events, number, &RecordEvent::generation);
  if (said == life.events.end()) return 0;
  std::optional<int64_t> claimed_ns;
  for (const LifeEvents& one : record.lives) {
    for (const RecordEvent& event : one.events) {
      if (event.kind == RecordKind::kGeneration && event.generation == number &&
          event.t_ns <= said->t_ns) {
        claimed_ns = std::max(claimed_ns.value_or(event.t_ns), event.t_ns);
      }
    }
  }
  const int64_t when_ns = claimed_ns.value_or(said->t_ns);
  return static_cast<uint64_t>(std::ranges::lower_bound(deletions.all, when_ns,
                                                        {},
                                                        &StoreDeletion::t_ns) -
                               deletions.all.begin());
}

GenerationId Evidence::IdOf(const LifeEvents& life, uint64_t number) const {
  return {.store = StoreOf(life, number), .era = EraOf(life), .number = number};
}

GenerationId Evidence::End() const {
  const auto cuts = std::ranges::count_if(
      firings, [](const Firing& firing) { return firing.traits.cuts_power; });
  return {.store = deletions.all.size(),
          .era = static_cast<uint64_t>(cuts),
          .number = UINT64_MAX};
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
  // Who finishes deletes all, the newest last.
  const GenerationId first = {.store = id.store};
  const bool deleted = MayHaveDeleted(first, id);
  const int keep = deleted ? 1 : record.setup.keep;
  if (keep <= 0) return false;
  std::set<Moment> later;
  for (const auto& [generation, of] : std::ranges::subrange(
           generations.lower_bound(first), generations.lower_bound(id))) {
    for (const Acknowledged& save : of.saves) {
      if (save.moment > moment) later.insert(save.moment);
    }
    // One that was adopted is as good as one that was acknowledged.
    if (of.parent && *of.parent > moment) later.insert(*of.parent);
  }
  const bool had_room = !any_freed_ && !freed_.contains(moment);
  if (had_room && later.size() < static_cast<uint64_t>(keep)) return false;
  // The newest finite one stays beside those that retention keeps.
  return deleted || (!IsFinite(moment) && !later.empty()) ||
         std::ranges::any_of(
             later, [this](const Moment& one) { return IsFinite(one); });
}

bool Evidence::MayHaveDeleted(const Generation& generation) const {
  return DeletesStoreAtTheEnd(record) && HaveAllFinished(generation) &&
         std::ranges::any_of(generation.lives, [&](const LifeEvents* life) {
           return HasClaimed(*life) && BeganToDelete(*life, firings);
         });
}

bool Evidence::MayHaveDeleted(const GenerationId& first,
                              const GenerationId& before) const {
  return std::any_of(generations.lower_bound(first),
                     generations.lower_bound(before),
                     [&](const auto& of) { return MayHaveDeleted(of.second); });
}

// Whether one that came between the two started anew, or the last one refused,
// as a deletion had left nothing: where it was cut short, nobody said so. Who
// resumed meanwhile had found the newest, which goes last.
bool Evidence::WasDeletedBetween(const GenerationId& first,
                                 const GenerationId& before) const {
  bool may_be_gone = false;
  for (const auto& [id, of] : std::ranges::subrange(
           generations.lower_bound(first), generations.lower_bound(before))) {
    if (may_be_gone && of.cold_start) return true;
    if (of.parent) may_be_gone = false;
    if (MayHaveDeleted(of)) may_be_gone = true;
  }
  return may_be_gone && before == End() && !record.launchers.empty() &&
         IsExit(record.launchers.back().exit_code, {WorkerExit::kNoCheckpoint});
}

// A save from before a cut that a disk forgot in is owed to those who come
// after one that found it; one from before a finished run deleted the store, to
// nobody.
bool Evidence::IsOwed(const Acknowledged& save, const Generation& of,
                      const GenerationId& before) const {
  if (of.id.store != before.store || WasDeletedBetween(of.id, before)) {
    return false;
  }
  if (!disk_forgot || of.id.era == before.era) return true;
  return std::any_of(
      generations.lower_bound({.store = before.store, .era = before.era}),
      generations.lower_bound(before),
      [&](const auto& later) { return later.second.parent == save.moment; });
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

bool Evidence::HaveAllFinished(const Generation& generation) const {
  return generation.finished_workers > 0 &&
         generation.finished_workers >=
             static_cast<int>(generation.lives.size());
}

bool Evidence::IsSaving(int life, int64_t t_ns) const {
  const RecordEvent* last = nullptr;
  for (const LifeEvents& one : record.lives) {
    // Lives of one number are of one time, unless workers restart singly: then
    // all are but late survivors.
    if (one.life != life && !record.setup.rejoins) continue;
    if (record.setup.rejoins && HadSuccessorBefore(record, one, t_ns)) continue;
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

bool IsSameLife(const LifeEvents& a, const LifeEvents& b) {
  return a.worker == b.worker && a.life == b.life;
}

std::string NameOf(const LifeEvents& life) {
  return fmt::format("worker {}, incarnation {}", life.worker, life.life);
}

}  // namespace gauntlet
