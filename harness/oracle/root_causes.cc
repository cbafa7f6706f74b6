#include "harness/oracle/root_causes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "engine/worker_exit_code.h"
#include "harness/oracle/fault_traits.h"

namespace gauntlet {
namespace {

// Tasks of a process stamp their events before they queue up to be written.
constexpr int64_t kStampSlackNs = 1'000'000;

bool Has(const LifeEvents& life, RecordKind kind) {
  return std::ranges::find(life.events, kind, &RecordEvent::kind) !=
         life.events.end();
}

// Of a life that said that it left; nullopt: it did not.
std::optional<int64_t> ExitCodeOf(const LifeEvents& life) {
  if (EndedInSilence(life)) return std::nullopt;
  return life.events.back().count;
}

bool LeftWith(const LifeEvents& life, WorkerExit exit) {
  const std::optional<int64_t> code = ExitCodeOf(life);
  return code && IsExit(*code, {exit});
}

std::optional<int64_t> BeginOf(const LifeEvents& life) {
  if (life.events.empty()) return std::nullopt;
  return life.events.front().t_ns;
}

uint64_t LastStepOf(const LifeEvents& life) {
  uint64_t last = 0;
  for (const RecordEvent& event : life.events) {
    if (event.kind == RecordKind::kStep) last = event.step;
  }
  return last;
}

// Of what ended it: an error is no loss.
bool SaysThatItLostAnother(const LifeEvents& life) {
  return std::ranges::any_of(life.events, [&](const RecordEvent& event) {
    return event.kind == RecordKind::kWorkerLost &&
           event.detail == life.events.back().detail;
  });
}

// Some errors of a disk are those of a connection, too: who says at which point
// it came has lost nobody.
bool NamesItsPoint(const LifeEvents& life, const Firing& firing) {
  const std::string& point = firing.event().path;
  return !point.empty() &&
         life.events.back().detail.find(point) != std::string::npos;
}

// Who is told that the chosen checkpoint went bad says which one; by then it
// may have been renamed for a later generation.
bool NamesWhatItDamaged(const LifeEvents& life, const Firing& firing) {
  const std::string& reason = life.events.back().detail;
  return std::ranges::any_of(
      firing.life->events, [&](const RecordEvent& event) {
        if (event.kind != RecordKind::kDamaged ||
            event.detail != firing.fault->id) {
          return false;
        }
        const std::string_view path = event.path;
        const std::string_view name = BaseName(path.substr(0, path.rfind('/')));
        const std::string_view of_any = name.substr(0, name.rfind("-g") + 2);
        return StepOfPath(name) && reason.find(of_any) != std::string::npos;
      });
}

bool TrainsAfter(const Firing& firing) {
  const std::vector<RecordEvent>& events = firing.life->events;
  return std::any_of(
      events.begin() + static_cast<ptrdiff_t>(firing.index), events.end(),
      [](const RecordEvent& event) { return event.kind == RecordKind::kStep; });
}

// Whether the task that it brought to a stand may have been a save's own, which
// training does not wait for.
bool IsBesideTheTraining(const Firing& firing, const RunSetup& setup) {
  // What of a save, or of the store, training waits for all the same.
  constexpr std::array<std::string_view, 6> kInTheTraining = {
      "ckpt.begin", "ckpt.copy",   "ckpt.compare_digests",
      "ckpt.load",  "ckpt.reject", "ckpt.backup"};
  const RecordFault& fault = *firing.fault;
  const bool waits = std::ranges::any_of(
      kInTheTraining,
      [&](std::string_view name) { return fault.point.starts_with(name); });
  return setup.saves_beside && fault.point.starts_with("ckpt.") && !waits &&
         (fault.kind == "hang" || fault.kind == "slow");
}

// When the first save that the job's life was in then, or came to, had ended.
int64_t EndOfSaveBehind(const Firing& firing, const Record& record) {
  int64_t end = INT64_MAX;
  for (const LifeEvents& life : record.lives) {
    if (life.life != firing.life->life && !record.setup.rejoins) continue;
    for (const RecordEvent& event : life.events) {
      const bool ends = event.kind == RecordKind::kSaveAcknowledged ||
                        event.kind == RecordKind::kSaveFailed;
      if (ends && event.t_ns > firing.event().t_ns) {
        end = std::min(end, event.t_ns);
      }
    }
  }
  return end;
}

// Whether it wants to be started again for a save that had no room: a restart
// would train again what is in memory, and meet the same disk.
bool LeftForAFullDisk(const LifeEvents& life) {
  constexpr std::array<std::string_view, 3> kNoRoom = {
      "injected ENOSPC", "injected EDQUOT", "injected EFBIG"};
  if (!LeftToBeRestarted(life)) return false;
  const std::string& reason = life.events.back().detail;
  return reason.starts_with("save of step") &&
         std::ranges::any_of(kNoRoom, [&](std::string_view error) {
           return reason.find(error) != std::string::npos;
         });
}

// When the life that it fired in had got over it: nobody gets past the next
// step alone. INT64_MAX: it did not, or what it did may still come.
// Where the signs of life stood still too, that may show for as long after.
int64_t OverAt(const Firing& firing, const Record& record) {
  const RunSetup& setup = record.setup;
  const RecordFault& fault = *firing.fault;
  const FaultTraits& traits = firing.traits;
  const bool passes = traits.may_end_life && !traits.ends_life &&
                      (!traits.creeps || fault.kind == "slow");
  if (!passes || fault.always || fault.point == "ctl.heartbeat") {
    return INT64_MAX;
  }
  if (IsBesideTheTraining(firing, setup)) {
    return EndOfSaveBehind(firing, record);
  }
  for (size_t i = firing.index; i < firing.life->events.size(); ++i) {
    const RecordEvent& event = firing.life->events[i];
    const bool trained =
        event.kind == RecordKind::kStep && event.step > firing.event().step + 1;
    if (!trained) continue;
    const bool of_a_task = fault.kind == "hang" || fault.kind == "slow";
    return event.t_ns + (of_a_task ? 0 : setup.silence_limit_ns);
  }
  return INT64_MAX;
}

// When a cut between groups of workers heals.
int64_t PartsAllUntil(const Firing& firing) {
  const RecordFault& fault = *firing.fault;
  if (!fault.parts_others) return INT64_MIN;
  if (fault.duration_ns == 0) return INT64_MAX;
  return firing.event().t_ns + fault.duration_ns;
}

// The last time that the life is known to have trained with all others; as long
// as it has not, when it began.
int64_t LastWellAt(const LifeEvents& life) {
  int64_t last = BeginOf(life).value_or(0);
  for (const RecordEvent& event : life.events) {
    if (event.kind == RecordKind::kStep) last = event.t_ns;
  }
  return last;
}

// Of the generations in which the life had a state to train on, the first or
// the last; 0: none.
struct Formed {
  uint64_t first = 0;
  uint64_t last = 0;
};
Formed FormedOf(const LifeEvents& life) {
  Formed formed;
  for (const RecordEvent& event : life.events) {
    if (!IsOfStart(event.kind)) continue;
    if (formed.first == 0) formed.first = event.generation;
    formed.last = event.generation;
  }
  return formed;
}

}  // namespace

bool EndedInSilence(const LifeEvents& life) {
  return life.events.empty() || life.events.back().kind != RecordKind::kLifeEnd;
}

bool LeftToBeRestarted(const LifeEvents& life) {
  return LeftWith(life, WorkerExit::kLostWorker);
}

bool LeftToStartLater(const LifeEvents& life) {
  return LeftWith(life, WorkerExit::kStartLater);
}

bool LeftUnsaved(const LifeEvents& life) {
  return LeftToStartLater(life) &&
         life.events.back().detail.find("was not saved") != std::string::npos;
}

RootCauses::RootCauses(const Evidence& evidence) : evidence_(evidence) {
  AddFirings();
  AddNotices();
  AddLeavers();
  for (const LifeEvents& life : evidence_.record.lives) {
    for (const RecordEvent& event : life.events) {
      const bool leaves = event.kind == RecordKind::kLifeEnd &&
                          IsExit(event.count, {WorkerExit::kLostWorker});
      if (!leaves && event.kind != RecordKind::kWorkerLost) continue;
      const auto first = noticed_ns_.try_emplace(life.life, event.t_ns).first;
      first->second = std::min(first->second, event.t_ns);
    }
  }
}

// Where workers rejoin, one that an error at every hit keeps from coming to a
// state tries again until it is ended with the others.
bool RootCauses::KeepsItOut(const Firing& firing) const {
  return evidence_.record.setup.rejoins && firing.traits.tells_error &&
         firing.fault->always && FormedOf(*firing.life).last == 0;
}

void RootCauses::AddFirings() {
  for (const Firing& firing : evidence_.firings) {
    const RecordFault& fault = *firing.fault;
    if (!ExplainsDeath(fault, evidence_.record) && !KeepsItOut(firing))
      continue;
    causes_.push_back(
        {.life = firing.life,
         .t_ns = firing.event().t_ns,
         .step = firing.event().step,
         .at_once = DiesAtOnce(fault),
         .lingers = firing.traits.troubles_network || firing.fault->of_one_host,
         .parts_all_until_ns = PartsAllUntil(firing),
         .over_ns = OverAt(firing, evidence_.record),
         .hits_all = firing.traits.cuts_power});
  }
}

// A notice by file or http is seen by later lives, too.
void RootCauses::AddNotices() {
  const bool notified = std::ranges::any_of(
      evidence_.firings,
      [](const Firing& firing) { return firing.traits.gives_notice; });
  for (const LifeEvents& life : evidence_.record.lives) {
    if (!notified || !Has(life, RecordKind::kNotice)) continue;
    const auto notice =
        std::ranges::find(life.events, RecordKind::kNotice, &RecordEvent::kind);
    causes_.push_back({.life = &life, .t_ns = notice->t_ns});
  }
}

// Whether the worker left because of an error that a fault gave, to it or to
// one of those that it trains with and that have to agree on what they do. An
// error that only cost a save is no reason for what comes steps later.
bool RootCauses::LeftForAnError(const LifeEvents& life) const {
  if (LeftForAFullDisk(life)) return false;
  const bool lost_another = SaysThatItLostAnother(life);
  return std::ranges::any_of(evidence_.firings, [&](const Firing& firing) {
    const FaultTraits& traits = firing.traits;
    if (!traits.tells_error && !traits.damages_store) return false;
    if (traits.tells_error && NamesItsPoint(life, firing)) return true;
    if (NamesWhatItDamaged(life, firing)) return true;
    if (!firing.fault->always && TrainsAfter(firing)) return false;
    return IsSameLife(*firing.life, life) ||
           (!lost_another && TrainTogether(*firing.life, life));
  });
}

bool RootCauses::TrainTogether(const LifeEvents& a, const LifeEvents& b) const {
  if (a.life == b.life) return true;
  return evidence_.record.setup.rejoins && GenerationOf(a) == GenerationOf(b);
}

void RootCauses::AddLeavers() {
  for (const LifeEvents& life : evidence_.record.lives) {
    const std::optional<int64_t> code = ExitCodeOf(life);
    if (code && IsOrderlyExit(*code)) continue;
    const bool fenced = Has(life, RecordKind::kFencedOut);
    if (!fenced && !code) continue;
    const bool owes_a_reason =
        LeftToBeRestarted(life) || LeftToStartLater(life);
    if (!fenced && owes_a_reason && !LeftForAnError(life)) continue;
    // It is on its way out before it says so, if it still can.
    causes_.push_back({.life = &life, .t_ns = INT64_MIN});
  }
}

bool RootCauses::Explain(const LifeEvents& lost) const {
  const bool singly = evidence_.record.setup.rejoins;
  return std::ranges::any_of(causes_, [&](const RootCause& cause) {
    if (cause.over_ns <= LastWellAt(lost)) return false;
    return singly ? MayReach(cause, lost) && !IsMadeUpFor(cause, lost)
                  : IsOfOneAttempt(cause, lost);
  });
}

// Where all start together, all of a life of the job end together.
bool RootCauses::IsOfOneAttempt(const RootCause& cause,
                                const LifeEvents& lost) const {
  if (cause.hits_all && BeginOf(lost).value_or(0) <= cause.t_ns) return true;
  const auto noticed = noticed_ns_.find(lost.life);
  const bool in_time = noticed == noticed_ns_.end() ||
                       cause.t_ns <= noticed->second + kStampSlackNs;
  return cause.life->life == lost.life && in_time;
}

// Whether the cause came while the life was there, as far as that is known.
bool RootCauses::MayReach(const RootCause& cause,
                          const LifeEvents& lost) const {
  if (IsSameLife(*cause.life, lost)) return true;
  const std::optional<int64_t> begin = BeginOf(lost);
  if (!EndedInSilence(lost) && cause.t_ns > lost.events.back().t_ns) {
    return false;
  }
  if (cause.hits_all) return !begin || *begin <= cause.t_ns;
  // No worker takes a step without the others.
  if (cause.at_once && cause.step > 0 && cause.step + 1 < LastStepOf(lost)) {
    return false;
  }
  // A launcher that starts a worker may not know yet of the next loss.
  const RunSetup& setup = evidence_.record.setup;
  const int64_t before =
      setup.detection_bound_joining_ns + setup.restart_pause_ns;
  return !begin || !cause.at_once || cause.t_ns + before >= *begin;
}

// Whether any of those that a cut between groups stands between was there with
// this life.
bool RootCauses::IsStillParted(const RootCause& cause,
                               const LifeEvents& lost) const {
  const int64_t from = BeginOf(lost).value_or(0);
  if (cause.parts_all_until_ns < from) return false;
  return std::ranges::any_of(
      evidence_.record.lives, [&](const LifeEvents& life) {
        const std::optional<int64_t> begin = BeginOf(life);
        return !IsSameLife(life, *cause.life) && begin &&
               *begin <= cause.t_ns && life.events.back().t_ns >= from;
      });
}

// Whether the launcher may take the cause's loss for another one yet: it had
// started the worker again before a survivor said that it had lost it, and
// nobody has trained since.
bool RootCauses::MayCountAgain(const RootCause& cause,
                               const LifeEvents& lost) const {
  if (!evidence_.record.setup.rejoins || lost.events.empty()) return false;
  const int64_t until_ns = lost.events.back().t_ns;
  int64_t restart_ns = INT64_MAX;
  int64_t said_ns = INT64_MAX;
  for (const LifeEvents& life : evidence_.record.lives) {
    if (life.worker == cause.life->worker && life.life > cause.life->life) {
      restart_ns = std::min(restart_ns, BeginOf(life).value_or(INT64_MAX));
    }
    for (const RecordEvent& event : life.events) {
      if (event.t_ns <= cause.t_ns) continue;
      if (event.kind == RecordKind::kStep && event.t_ns <= until_ns) {
        return false;
      }
      if (event.kind == RecordKind::kWorkerLost &&
          life.worker != cause.life->worker) {
        said_ns = std::min(said_ns, event.t_ns);
      }
    }
  }
  return restart_ns < said_ns && said_ns <= until_ns;
}

// Whether the worker that it happened to had been started again by the time
// that this life began, or has met it since. One that only was cut off may keep
// its address, and who was with a host that went silently waits for it.
bool RootCauses::IsMadeUpFor(const RootCause& cause,
                             const LifeEvents& lost) const {
  if (IsSameLife(*cause.life, lost)) return false;
  if (IsStillParted(cause, lost) || MayCountAgain(cause, lost)) return false;
  const GenerationId formed = evidence_.IdOf(lost, FormedOf(lost).last);
  return std::ranges::any_of(
      evidence_.record.lives, [&](const LifeEvents& later) {
        if (later.worker != cause.life->worker ||
            later.life <= cause.life->life) {
          return false;
        }
        const GenerationId first = evidence_.IdOf(later, FormedOf(later).first);
        const bool began = !cause.lingers && later.life <= lost.life;
        const bool met = first.number != 0 && first <= formed;
        return began || met;
      });
}

}  // namespace gauntlet
