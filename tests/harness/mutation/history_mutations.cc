// Mutations that change several events: exits, restarts, saves and samples.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "tests/harness/mutation/record_edit.h"
#include "tests/harness/mutation/record_mutation.h"
#include "tests/harness/mutation/resume_edit.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int64_t kLostWorkerExit = 75;

bool EndsByItself(const IncarnationEvents& incarnation) {
  return !incarnation.events.empty() &&
         incarnation.events.back().kind == RecordKind::kWorkerExited;
}

void CutFrom(Record& record, EventPlace place) {
  record.incarnations[place.incarnation].events.resize(place.index);
}

// Makes the worker exit after the step, although all workers had trained
// further.
bool ExitEarly(Record& record, EventPlace place, int64_t code) {
  const IncarnationEvents& incarnation = record.incarnations[place.incarnation];
  if (!EndsByItself(incarnation) ||
      place.index + 2 >= incarnation.events.size()) {
    return false;
  }
  const int64_t t_ns = EventAt(record, place).t_ns;
  CutFrom(record, {place.incarnation, place.index + 1});
  record.incarnations[place.incarnation].events.push_back(
      {.kind = RecordKind::kWorkerExited,
       .t_ns = t_ns,
       .count = code,
       .detail = code == 0 ? "" : "a worker is lost"});
  return true;
}

template <int64_t kCode>
std::optional<Mutant> AddExit(const Record& record, Choice& choice) {
  return EditAny(record, PlacesOf(record, RecordKind::kStep), choice,
                 [](Record& changed, EventPlace place, Choice&) {
                   return ExitEarly(changed, place, kCode);
                 });
}

// Adds an incarnation after a worker's last one.
std::optional<Mutant> AddIncarnation(const Record& record, Choice& choice) {
  return EditAny(
      record, PlacesOf(record, RecordKind::kWorkerExited), choice,
      [](Record& changed, EventPlace place, Choice&) {
        const IncarnationEvents last = changed.incarnations[place.incarnation];
        const bool is_last =
            place.incarnation + 1 == changed.incarnations.size() ||
            changed.incarnations[place.incarnation + 1].worker != last.worker;
        if (!is_last) return false;
        RecordEvent begin = last.events.front();
        begin.t_ns = last.events.back().t_ns;
        RecordEvent end = {.kind = RecordKind::kWorkerExited,
                           .t_ns = begin.t_ns + 1'000'000,
                           .count = kLostWorkerExit,
                           .detail = "a worker is lost"};
        changed.incarnations.insert(
            changed.incarnations.begin() +
                static_cast<ptrdiff_t>(place.incarnation) + 1,
            {.worker = last.worker,
             .number = last.number + 1,
             .events = {std::move(begin), std::move(end)}});
        return true;
      });
}

// Returns the index of the event of the incarnation's n-th last step, counted
// from 1; nullopt if it has fewer steps.
std::optional<size_t> StepFromEnd(const IncarnationEvents& incarnation,
                                  size_t n) {
  for (size_t i = incarnation.events.size(); i > 0; --i) {
    if (incarnation.events[i - 1].kind == RecordKind::kStep && --n == 0)
      return i - 1;
  }
  return std::nullopt;
}

// Drops a worker's last events, from its second to fifth last step on. If an
// attempt is lost, a worker that is killed with the others may lack one step
// that they have, but never two.
std::optional<Mutant> CutTail(const Record& record, Choice& choice) {
  return EditAny(record, PlacesOf(record, RecordKind::kWorkerExited), choice,
                 [](Record& changed, EventPlace place, Choice& more) {
                   const auto from =
                       StepFromEnd(changed.incarnations[place.incarnation],
                                   2 + more.Below(4));
                   if (!from) return false;
                   CutFrom(changed, {place.incarnation, *from});
                   return true;
                 });
}

std::string CheckpointPath(uint64_t step, uint64_t generation) {
  return fmt::format("/ckpt/step-{:09}-g{}", step, generation);
}

// Returns true iff a save of the step begins anywhere in the record.
bool IsSaved(const Record& record, uint64_t step) {
  return !FindPlaces(record, [step](const RecordEvent& event) {
            return event.kind == RecordKind::kSaveBegin && event.step == step;
          }).empty();
}

// Makes the chief acknowledge a save of a step that no worker saved.
std::optional<Mutant> AddSave(const Record& record, Choice& choice) {
  return EditAny(record, PlacesOf(record, RecordKind::kStep), choice,
                 [](Record& changed, EventPlace place, Choice&) {
                   const RecordEvent step = EventAt(changed, place);
                   const bool is_chief =
                       FindIndex(changed.incarnations[place.incarnation],
                                 RecordKind::kGeneration)
                           .has_value();
                   if (!is_chief || step.phase != RecordPhase::kInEpoch ||
                       IsSaved(changed, step.step)) {
                     return false;
                   }
                   RecordEvent begin = {
                       .kind = RecordKind::kSaveBegin,
                       .t_ns = step.t_ns,
                       .step = step.step,
                       .path = CheckpointPath(step.step, step.generation)};
                   RecordEvent end = begin;
                   end.kind = RecordKind::kSaveAcknowledged;
                   end.digest = step.digest;
                   InsertEvent(changed, {place.incarnation, place.index + 1},
                               std::move(end));
                   InsertEvent(changed, {place.incarnation, place.index + 1},
                               std::move(begin));
                   return true;
                 });
}

// Replaces one sample of a step by one that an earlier step of the epoch used.
std::optional<Mutant> UseSampleTwice(const Record& record, Choice& choice) {
  return EditAny(record, PlacesOf(record, RecordKind::kStep), choice,
                 [](Record& changed, EventPlace place, Choice& more) {
                   RecordEvent& step = EventAt(changed, place);
                   if (step.samples.empty()) return false;
                   for (const RecordEvent& before :
                        changed.incarnations[place.incarnation].events) {
                     const bool is_earlier = before.kind == RecordKind::kStep &&
                                             before.epoch == step.epoch &&
                                             before.step < step.step &&
                                             !before.samples.empty();
                     if (!is_earlier) continue;
                     const uint32_t used =
                         before.samples[more.Below(before.samples.size())];
                     step.samples[more.Below(step.samples.size())] = used;
                     return true;
                   }
                   return false;
                 });
}

// Exchanges the numbers of two workers of one attempt.
std::optional<Mutant> ExchangeWorkers(const Record& record, Choice& choice) {
  return EditAny(record, PlacesOf(record, RecordKind::kWorkerStarted), choice,
                 [](Record& changed, EventPlace place, Choice&) {
                   IncarnationEvents& incarnation =
                       changed.incarnations[place.incarnation];
                   for (IncarnationEvents& other : changed.incarnations) {
                     if (other.number != incarnation.number ||
                         other.worker == incarnation.worker ||
                         other.events.empty()) {
                       continue;
                     }
                     std::swap(incarnation.events, other.events);
                     return true;
                   }
                   return false;
                 });
}

}  // namespace

std::vector<Mutation> HistoryMutations() {
  return {
      {"exit added", "exit with code 75", AddExit<kLostWorkerExit>},
      {"exit added", "exit with code 0", AddExit<0>},
      {"exit added", "incarnation added", AddIncarnation},
      {"tail cut", "tail cut", CutTail},
      {"stale resume", "older checkpoint resumed", ResumeFromOlder},
      {"cold start", "started from nothing", StartFromNothing},
      {"false rejection", "good checkpoint rejected", RejectGood},
      {"save added", "save added", AddSave},
      {"sample twice", "sample twice", UseSampleTwice},
      {"workers exchanged", "workers exchanged", ExchangeWorkers},
  };
}

}  // namespace gauntlet
