#include "harness/oracle/history/outline.h"

#include <algorithm>

#include "harness/oracle/history/last_words.h"

namespace gauntlet {
namespace {

void Take(const RecordEvent& event, Generation& generation) {
  const TrainingPosition position = PositionOf(event);
  switch (event.kind) {
    case RecordKind::kResumed:
      generation.resumed = position;
      break;
    case RecordKind::kResumedFromMemory:
      generation.resumed_from_memory = position;
      generation.last_step = std::max(generation.last_step, event.step);
      break;
    case RecordKind::kInitialized:
      generation.cold_start = true;
      break;
    case RecordKind::kStep:
      generation.last_step = std::max(generation.last_step, event.step);
      break;
    case RecordKind::kEpochEnd:
      generation.epochs.insert(event.epoch);
      break;
    case RecordKind::kSaveAcknowledged:
      generation.saves.push_back(position);
      break;
    case RecordKind::kSaveFailed:
      ++generation.failed_saves;
      break;
    case RecordKind::kFinished:
      ++generation.finished_workers;
      break;
    case RecordKind::kLeft:
      generation.some_left = true;
      break;
    default:
      break;
  }
}

}  // namespace

Outline::Outline(const Record& of) : Outline(of, HistoryOf(of)) {}

Outline::Outline(const Record& of, const std::vector<HistoryEvent>& history)
    : record(of) {
  FindOccurrences();
  FindGenerations(history);
  FindRecomputed();
}

// A fault that cuts the power may fire without a power loss, if another fault
// kills the worker before the power is cut. Such an occurrence counts as the
// end of that one process.
void Outline::FindOccurrences() {
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (size_t i = 0; i < incarnation.events.size(); ++i) {
      const RecordEvent& event = incarnation.events[i];
      if (event.kind != RecordKind::kFaultFired) continue;
      for (const RecordFault& fault : record.faults) {
        if (fault.id != event.detail) continue;
        FaultOccurrence occurrence = {&fault, TraitsOf(fault), &incarnation, i};
        const bool cut =
            std::ranges::any_of(record.machine, [&](const RecordEvent& done) {
              return done.kind == RecordKind::kPowerCut &&
                     done.t_ns >= event.t_ns;
            });
        if (occurrence.traits.cuts_power && !cut)
          occurrence.traits = kEndsOneProcess;
        occurrences.push_back(occurrence);
      }
    }
  }
  std::ranges::stable_sort(occurrences, {},
                           [](const FaultOccurrence& occurrence) {
                             return occurrence.event().t_ns;
                           });
}

// A number may be claimed again, by a new generation. From then on, events with
// this number belong to the new generation.
void Outline::FindGenerations(const std::vector<HistoryEvent>& history) {
  std::map<uint64_t, size_t> newest;  // by number
  std::map<Emitter, size_t> of;
  for (const HistoryEvent& entry : history) {
    const RecordEvent& event = *entry.event;
    if (entry.by.kind != Emitter::Kind::kWorker) continue;
    const bool claims = event.kind == RecordKind::kGeneration;
    if (claims || IsOfStart(event.kind)) {
      const auto [at, is_new] =
          newest.try_emplace(event.generation, generations.size());
      if (claims || is_new) {
        at->second = generations.size();
        generations.push_back({.number = event.generation});
      }
      of[entry.by] = at->second;
    }
    const auto at = of.find(entry.by);
    if (at == of.end()) continue;
    Generation& generation = generations[at->second];
    generation.workers.insert(entry.by);
    Take(event, generation);
    if (event.kind == RecordKind::kLeft) of.erase(at);
  }
}

// Compares each generation with the one that started before it.
void Outline::FindRecomputed() {
  bool any = false;
  uint64_t reached = 0;
  for (Generation& generation : generations) {
    if (!generation.has_started()) continue;
    const uint64_t from =
        generation.started_at().value_or(TrainingPosition{}).step;
    if (any)
      generation.recomputed = RecomputedSteps{.from = from, .to = reached};
    any = true;
    reached = std::max(from, generation.last_step);
  }
}

bool Outline::IsDone() const { return gauntlet::IsDone(record); }

bool IsSameIncarnation(const IncarnationEvents& a, const IncarnationEvents& b) {
  return a.worker == b.worker && a.number == b.number;
}

std::string NameOf(const IncarnationEvents& incarnation) {
  return NameOf(
      Emitter{.worker = incarnation.worker, .incarnation = incarnation.number});
}

}  // namespace gauntlet
