// One operation on one event, for each kind of event.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "tests/harness/mutation/record_edit.h"
#include "tests/harness/mutation/record_mutation.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int64_t kLostWorkerExit = 75;
constexpr RecordKind kLastKind = RecordKind::kFaultAgain;

// Returns the reason why the operation at the place has no effect; "" if it has
// an effect. The record is passed as it was before the operation.
using NoEffect = std::string_view (*)(const Record&, EventPlace);

std::string_view HasEffect(const Record&, EventPlace) { return ""; }

struct Operation {
  std::string_view group;
  std::string_view verb;  // first word of the mutation's name: "drop"
  bool (*edit)(Record&, EventPlace, Choice&);
  NoEffect no_effect = HasEffect;
};

bool Drop(Record& record, EventPlace place, Choice&) {
  RemoveEvent(record, place);
  return true;
}

bool IsStart(RecordKind kind) {
  return kind == RecordKind::kInitialized || kind == RecordKind::kResumed ||
         kind == RecordKind::kResumedFromMemory;
}

// Returns true iff the worker reports the loss at the index more than once
// before it starts from another state.
bool ReportsLossTwice(const std::vector<RecordEvent>& events, size_t index) {
  size_t begin = index;
  while (begin > 0 && !IsStart(events[begin - 1].kind)) --begin;
  size_t reports = 0;
  for (size_t i = begin; i < events.size(); ++i) {
    if (i > index && IsStart(events[i].kind)) break;
    if (events[i].kind == RecordKind::kWorkerLost) ++reports;
  }
  return reports > 1;
}

bool IsTraining(RecordKind kind) {
  return kind == RecordKind::kStep || kind == RecordKind::kEvaluated ||
         kind == RecordKind::kEpochEnd;
}

int64_t CountOf(const std::vector<RecordEvent>& events, RecordKind kind) {
  return std::ranges::count(events, kind, &RecordEvent::kind);
}

// Returns true iff an incarnation other than that of the place has a notice.
bool AnotherHasNotice(const Record& record, EventPlace place) {
  for (size_t i = 0; i < record.incarnations.size(); ++i) {
    const IncarnationEvents& incarnation = record.incarnations[i];
    if (i != place.incarnation &&
        CountOf(incarnation.events, RecordKind::kNotice) > 0) {
      return true;
    }
  }
  return false;
}

bool ReportsLoss(const std::vector<RecordEvent>& events) {
  return CountOf(events, RecordKind::kWorkerLost) > 0;
}

// Returns true iff the removal that the event announces is reported.
bool IsRetired(const std::vector<RecordEvent>& events, EventPlace place) {
  return std::any_of(events.begin() + static_cast<ptrdiff_t>(place.index),
                     events.end(), [&](const RecordEvent& event) {
                       return event.kind == RecordKind::kRetired &&
                              event.path == events[place.index].path;
                     });
}

// Returns true iff the claim that the event announces is reported.
bool IsClaimed(const std::vector<RecordEvent>& events, EventPlace place) {
  const auto number = static_cast<uint64_t>(events[place.index].count);
  return std::ranges::any_of(events, [&](const RecordEvent& event) {
    return event.kind == RecordKind::kGeneration && event.generation == number;
  });
}

// Returns the reason why it has no effect to drop the event, or "". A worker
// emits events one by one, so a kill may come before any of them. The exception
// is a fault's event, which is recorded before the fault acts. The task that
// sends heartbeats and the task that trains detect a loss independently.
std::string_view NoEffectOfDrop(const Record& record, EventPlace place) {
  const std::vector<RecordEvent>& events =
      record.incarnations[place.incarnation].events;
  const RecordKind last = events.back().kind;
  const bool is_last_of_killed = place.index + 1 == events.size() &&
                                 last != RecordKind::kWorkerExited &&
                                 last != RecordKind::kFaultFired;
  if (is_last_of_killed) {
    return "the last event of a killed worker: the kill may have come first";
  }
  const RecordEvent& event = events[place.index];
  if (event.kind == RecordKind::kWorkerExited &&
      event.count == kLostWorkerExit) {
    return "a worker of a lost attempt: its launcher may have killed it";
  }
  const bool is_one_of_two = event.kind == RecordKind::kWorkerLost &&
                             ReportsLossTwice(events, place.index);
  if (is_one_of_two) return "another task of the worker reports the loss too";
  if (IsTraining(event.kind) && place.index + 1 < events.size() &&
      events[place.index + 1].kind == RecordKind::kWorkerLost) {
    return "the last thing before a loss: the loss may have come first";
  }
  if (event.kind == RecordKind::kFencedOut && CountOf(events, event.kind) > 1) {
    return "the worker reports twice that it is superseded";
  }
  if (event.kind == RecordKind::kNotice && AnotherHasNotice(record, place)) {
    return "another worker's notice stops all of them";
  }
  if (event.kind == RecordKind::kFaultAgain) {
    return "a fault may fire any number of times";
  }
  if (event.kind == RecordKind::kLeaving) {
    if (ReportsLoss(events))
      return "the loss that the worker reports is as good";
    const bool lost = last == RecordKind::kWorkerExited &&
                      events.back().count == kLostWorkerExit;
    if (!lost) return "in good order a worker may leave last";
  }
  if (event.kind == RecordKind::kRetireBegin && !IsRetired(events, place)) {
    return "a removal that is not reported may not have begun";
  }
  if (event.kind == RecordKind::kClaimBegin && !IsClaimed(events, place)) {
    return "a claim that comes to nothing may not have begun";
  }
  const bool never_rejoins =
      event.kind == RecordKind::kLeft &&
      (place.index + 1 == events.size() ||
       events[place.index + 1].kind == RecordKind::kWorkerExited);
  if (never_rejoins) return "the worker joins no generation after it";
  const bool refused = event.kind == RecordKind::kWorkerLost &&
                       last == RecordKind::kWorkerExited &&
                       events.back().count != kLostWorkerExit;
  return refused ? "the worker's exit reports why it was refused" : "";
}

bool Duplicate(Record& record, EventPlace place, Choice&) {
  InsertEvent(record, place, EventAt(record, place));
  return true;
}

std::string_view NoEffectOfDuplicate(const Record& record, EventPlace place) {
  const std::vector<RecordEvent>& events =
      record.incarnations[place.incarnation].events;
  switch (EventAt(record, place).kind) {
    case RecordKind::kRetireBegin:
      return IsRetired(events, place) ? "" : "a removal may be tried again";
    case RecordKind::kClaimBegin:
      return IsClaimed(events, place) ? "" : "a claim may be tried again";
    case RecordKind::kWorkerLost:
      return EventAt(record, place).generation == 0
                 ? "workers at a rendezvous may lose each other repeatedly"
                 : "";
    case RecordKind::kNotice:
      return "a worker may be sent more than one notice";
    case RecordKind::kFencedOut:
      return "each look at the claims may report it";
    case RecordKind::kFaultAgain:
      return "a fault may fire any number of times";
    default:
      return "";
  }
}

// Returns true iff an event of the record comes before the one at the place.
bool HasEarlier(const Record& record, EventPlace place) {
  const int64_t t_ns = EventAt(record, place).t_ns;
  return std::ranges::any_of(record.incarnations,
                             [&](const IncarnationEvents& incarnation) {
                               return !incarnation.events.empty() &&
                                      incarnation.events.front().t_ns < t_ns;
                             });
}

bool DelayAll(Record& record, EventPlace place, Choice&) {
  if (!HasEarlier(record, place)) return false;
  DelayAllFrom(record, place);
  return true;
}

// Returns the reason why it has no effect to delay the event, or "". A record
// states how many launchers started, but not when each did.
std::string_view NoEffectOfDelay(const Record& record, EventPlace place) {
  const RecordEvent& event = EventAt(record, place);
  const bool may_begin_attempt =
      event.kind == RecordKind::kWorkerStarted && record.launchers.size() > 1 &&
      std::ranges::none_of(
          record.incarnations, [&](const IncarnationEvents& incarnation) {
            return !incarnation.events.empty() &&
                   incarnation.events.front().t_ns < event.t_ns &&
                   incarnation.events.back().t_ns >= event.t_ns;
          });
  return may_begin_attempt
             ? "a queue may wait for any time before it starts a job again"
             : "";
}

bool DelayOne(Record& record, EventPlace place, Choice& choice) {
  if (record.incarnations.size() < 2 || !HasEarlier(record, place))
    return false;
  (void)choice;
  DelayIncarnationFrom(record, place);
  return true;
}

// Returns another worker's event that matches the one at the place but has
// other contents; nullopt if there is no such event.
std::optional<EventPlace> FindCounterpart(const Record& record,
                                          EventPlace place) {
  const IncarnationEvents& incarnation = record.incarnations[place.incarnation];
  const RecordEvent& event = EventAt(record, place);
  for (const EventPlace other : PlacesOf(record, event.kind)) {
    const IncarnationEvents& other_incarnation =
        record.incarnations[other.incarnation];
    RecordEvent found = EventAt(record, other);
    const bool matches = other_incarnation.worker != incarnation.worker &&
                         other_incarnation.number == incarnation.number &&
                         found.step == event.step &&
                         found.phase == event.phase &&
                         found.generation == event.generation;
    found.t_ns = event.t_ns;
    found.order = event.order;
    if (matches && found != event) return other;
  }
  return std::nullopt;
}

bool Swap(Record& record, EventPlace place, Choice&) {
  const std::optional<EventPlace> other = FindCounterpart(record, place);
  if (!other) return false;
  RecordEvent& a = EventAt(record, place);
  RecordEvent& b = EventAt(record, *other);
  std::swap(a, b);
  std::swap(a.t_ns, b.t_ns);
  std::swap(a.order, b.order);
  return true;
}

// Returns the event without its message and without the size of its copy.
RecordEvent WithoutText(RecordEvent event) {
  event.detail.clear();
  if (event.kind == RecordKind::kSaveCopied) event.count = 0;
  return event;
}

std::string_view NoEffectOfSwap(const Record& record, EventPlace place) {
  const RecordEvent& event = EventAt(record, place);
  if (event.kind == RecordKind::kStep) {
    return "a record does not say which samples each worker has to use";
  }
  const std::optional<EventPlace> other = FindCounterpart(record, place);
  if (!other) return "";
  RecordEvent counterpart = WithoutText(EventAt(record, *other));
  counterpart.t_ns = event.t_ns;
  counterpart.order = event.order;
  return counterpart == WithoutText(event)
             ? "the events differ in text for people alone"
             : "";
}

constexpr std::array<Operation, 5> kOperations = {{
    {"event dropped", "drop", Drop, NoEffectOfDrop},
    {"event twice", "duplicate", Duplicate, NoEffectOfDuplicate},
    {"all late", "delay all from", DelayAll, NoEffectOfDelay},
    {"one late", "delay one from", DelayOne},
    {"events swapped", "swap", Swap, NoEffectOfSwap},
}};

// Returns the fault that the event is about, or null.
const RecordFault* FaultOf(const Record& record, EventPlace place) {
  const auto fault = std::ranges::find(
      record.faults, EventAt(record, place).detail, &RecordFault::id);
  return fault == record.faults.end() ? nullptr : &*fault;
}

std::string_view NoEffectOfStep(const Record& record, EventPlace place) {
  const RecordEvent& event = EventAt(record, place);
  const bool fires = event.kind == RecordKind::kFaultFired ||
                     event.kind == RecordKind::kFaultAgain;
  const RecordFault* const fault = fires ? FaultOf(record, place) : nullptr;
  return fault != nullptr && !fault->step
             ? "the plan names no step for the fault"
             : "";
}

std::string_view NoEffectOfEpoch(const Record& record, EventPlace place) {
  const RecordEvent& event = EventAt(record, place);
  const bool fires = event.kind == RecordKind::kFaultFired ||
                     event.kind == RecordKind::kFaultAgain;
  const RecordFault* const fault = fires ? FaultOf(record, place) : nullptr;
  return fault != nullptr && !fault->epoch
             ? "the plan names no epoch for the fault"
             : "";
}

std::string_view NoEffectOfPath(const Record& record, EventPlace place) {
  const std::vector<RecordEvent>& events =
      record.incarnations[place.incarnation].events;
  const RecordKind kind = EventAt(record, place).kind;
  if (kind == RecordKind::kDamaged) return "a fault may damage any file";
  return kind == RecordKind::kRetireBegin && !IsRetired(events, place)
             ? "a removal that is not reported may be of any checkpoint"
             : "";
}

std::string_view NoEffectOfCount(const Record& record, EventPlace place) {
  const std::vector<RecordEvent>& events =
      record.incarnations[place.incarnation].events;
  const RecordKind kind = EventAt(record, place).kind;
  if (kind == RecordKind::kSaveCopied)
    return "the size of a copy is for people";
  return kind == RecordKind::kClaimBegin && !IsClaimed(events, place)
             ? "a claim that comes to nothing may be of any generation"
             : "";
}

bool ChangeDigest(Record& record, EventPlace place, Choice& choice) {
  std::string& digest = EventAt(record, place).digest;
  if (digest.empty()) return false;
  char& digit = digest[choice.Below(digest.size())];
  digit = digit == '0' ? '1' : '0';
  return true;
}

bool ChangeLoss(Record& record, EventPlace place, Choice&) {
  RecordEvent& event = EventAt(record, place);
  if (event.loss_bits == 0) return false;
  event.loss_bits ^= 1;
  return true;
}

bool ChangeStep(Record& record, EventPlace place, Choice&) {
  RecordEvent& event = EventAt(record, place);
  if (event.step == 0) return false;
  ++event.step;
  return true;
}

// Returns true iff an event of the kind states the position in the training
// data.
bool StatesEpoch(RecordKind kind) {
  return kind == RecordKind::kStep || kind == RecordKind::kEvaluated ||
         kind == RecordKind::kEpochEnd || kind == RecordKind::kResumed ||
         kind == RecordKind::kResumedFromMemory ||
         kind == RecordKind::kFinished || kind == RecordKind::kNotFinite;
}

bool ChangeEpoch(Record& record, EventPlace place, Choice&) {
  RecordEvent& event = EventAt(record, place);
  if (event.epoch == 0 && !StatesEpoch(event.kind)) return false;
  ++event.epoch;
  return true;
}

bool ChangePosition(Record& record, EventPlace place, Choice&) {
  RecordEvent& event = EventAt(record, place);
  const bool states_position = event.kind == RecordKind::kStep ||
                               event.kind == RecordKind::kResumed ||
                               event.kind == RecordKind::kResumedFromMemory;
  if (event.position == 0 && !states_position) return false;
  ++event.position;
  return true;
}

bool ChangePhase(Record& record, EventPlace place, Choice& choice) {
  RecordEvent& event = EventAt(record, place);
  const bool states_phase = event.kind == RecordKind::kStep ||
                            event.kind == RecordKind::kEvaluated ||
                            event.kind == RecordKind::kResumed ||
                            event.kind == RecordKind::kResumedFromMemory ||
                            event.kind == RecordKind::kSaveCopied;
  if (event.phase == RecordPhase::kInEpoch && !states_phase) return false;
  const size_t next = static_cast<size_t>(event.phase) + 1 + choice.Below(2);
  event.phase = static_cast<RecordPhase>(next % 3);
  return true;
}

bool DropSample(Record& record, EventPlace place, Choice& choice) {
  std::vector<uint32_t>& samples = EventAt(record, place).samples;
  if (samples.empty()) return false;
  const size_t dropped = choice.Below(samples.size());
  samples.erase(samples.begin() + static_cast<ptrdiff_t>(dropped));
  return true;
}

// Changes the last digit of a checkpoint's path: the number of the generation
// that wrote the checkpoint.
bool ChangePath(Record& record, EventPlace place, Choice&) {
  std::string& path = EventAt(record, place).path;
  if (path.empty()) return false;
  const size_t digit = path.find_last_of("0123456789");
  if (digit == path.npos) {
    path += "x";
  } else {
    path[digit] = path[digit] == '9' ? '1' : static_cast<char>(path[digit] + 1);
  }
  return true;
}

bool ChangeGeneration(Record& record, EventPlace place, Choice&) {
  RecordEvent& event = EventAt(record, place);
  if (event.generation == 0) return false;
  ++event.generation;
  return true;
}

bool ChangeCount(Record& record, EventPlace place, Choice&) {
  RecordEvent& event = EventAt(record, place);
  const bool states_count = event.kind == RecordKind::kWorkerStarted ||
                            event.kind == RecordKind::kWorkerExited ||
                            event.kind == RecordKind::kStep ||
                            event.kind == RecordKind::kEvaluated ||
                            event.kind == RecordKind::kEpochEnd ||
                            event.kind == RecordKind::kSaveAcknowledged ||
                            event.kind == RecordKind::kFinished;
  if (event.count == 0 && !states_count) return false;
  ++event.count;
  return true;
}

constexpr std::array<Operation, 10> kFieldChanges = {{
    {"digest", "change digest of", ChangeDigest},
    {"loss", "change loss of", ChangeLoss},
    {"step", "change step of", ChangeStep, NoEffectOfStep},
    {"epoch", "change epoch of", ChangeEpoch, NoEffectOfEpoch},
    {"position", "change position of", ChangePosition},
    {"phase", "change phase of", ChangePhase},
    {"samples", "drop a sample of", DropSample},
    {"path", "change path of", ChangePath, NoEffectOfPath},
    {"generation", "change generation of", ChangeGeneration},
    {"count", "change count of", ChangeCount, NoEffectOfCount},
}};

Mutation MutationOf(const Operation& operation, RecordKind kind) {
  const auto apply = [&operation, kind](
                         const Record& record,
                         Choice& choice) -> std::optional<Mutant> {
    std::string_view without_effect;
    std::optional<Mutant> mutant =
        EditAny(record, PlacesOf(record, kind), choice,
                [&](Record& changed, EventPlace place, Choice& more) {
                  without_effect = operation.no_effect(record, place);
                  return operation.edit(changed, place, more);
                });
    if (mutant) mutant->without_effect = without_effect;
    return mutant;
  };
  return {.group = operation.group,
          .name = fmt::format("{} {}", operation.verb, RecordKindName(kind)),
          .apply = apply};
}

}  // namespace

std::vector<Mutation> EventMutations() {
  std::vector<Mutation> mutations;
  const auto add = [&](const Operation& operation) {
    for (size_t kind = 0; kind <= static_cast<size_t>(kLastKind); ++kind) {
      mutations.push_back(MutationOf(operation, static_cast<RecordKind>(kind)));
    }
  };
  std::ranges::for_each(kOperations, add);
  std::ranges::for_each(kFieldChanges, add);
  return mutations;
}

}  // namespace gauntlet
