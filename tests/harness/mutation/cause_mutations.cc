// Losses without a cause, losses that are detected late, and ignored notices.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "tests/harness/mutation/record_edit.h"
#include "tests/harness/mutation/record_mutation.h"

namespace gauntlet {
namespace {

template <size_t n>
bool IsAnyOf(const std::array<std::string_view, n>& kinds,
             const RecordFault& fault) {
  return std::ranges::find(kinds, fault.kind) != kinds.end();
}

// Returns true iff the fault ends its process and does nothing else.
bool EndsProcess(const RecordFault& fault) {
  constexpr std::array<std::string_view, 3> kKinds = {"crash", "kill",
                                                      "exception"};
  return IsAnyOf(kKinds, fault) ||
         (fault.kind == "torn_write" && fault.then == "crash");
}

// Returns true iff the fault itself cannot lose a worker.
bool LosesNoWorker(const RecordFault& fault) {
  constexpr std::array<std::string_view, 5> kKinds = {
      "bit_flip", "truncate", "delete", "duplicate", "wall_clock_jump"};
  return fault.id == kHarmlessFaultId || IsAnyOf(kKinds, fault) ||
         (fault.kind == "torn_write" && fault.then == "nothing");
}

constexpr int64_t kLostWorkerExit = 75;

bool IsOccurrence(const RecordEvent& event, std::string_view fault) {
  return event.kind == RecordKind::kFaultFired && event.detail == fault;
}

// Returns true iff the fault isolates or stops a live worker, or makes it exit.
bool KeepsAway(const RecordFault& fault) {
  constexpr std::array<std::string_view, 8> kKinds = {
      "hang",      "pause",       "partition",     "asymmetric_partition",
      "gpu_error", "device_hang", "out_of_memory", "connection_reset"};
  return fault.id != kHarmlessFaultId && IsAnyOf(kKinds, fault);
}

// Returns true iff the launcher restarted workers after a loss.
bool WasRestarted(const Record& record) {
  return std::ranges::any_of(record.launchers, [](const LauncherRun& run) {
    return run.restarts > 0;
  });
}

// Removes from the record the fault that caused the loss of a worker. The loss
// then has no cause.
template <bool (*kIsCause)(const RecordFault&)>
std::optional<Mutant> TakeCauseOut(const Record& record) {
  const auto cause = std::ranges::find_if(record.faults, kIsCause);
  if (cause == record.faults.end()) return std::nullopt;
  const std::string id = cause->id;
  for (const RecordFault& fault : record.faults) {
    if (fault.id != id && !LosesNoWorker(fault)) return std::nullopt;
  }
  const std::vector<EventPlace> fired = FindPlaces(
      record,
      [&](const RecordEvent& event) { return IsOccurrence(event, id); });
  if (fired.empty()) return std::nullopt;
  Mutant mutant = {.record = record, .place = PlaceText(record, fired[0])};
  std::erase_if(mutant.record.faults,
                [&](const RecordFault& fault) { return fault.id == id; });
  for (IncarnationEvents& incarnation : mutant.record.incarnations) {
    std::erase_if(incarnation.events, [&](const RecordEvent& event) {
      return IsOccurrence(event, id);
    });
  }
  return mutant;
}

std::optional<Mutant> TakeFatalFaultOut(const Record& record, Choice&) {
  return TakeCauseOut<EndsProcess>(record);
}

// Requires a restart: a worker that was isolated for a moment need not be lost.
std::optional<Mutant> TakeHangOrCutOut(const Record& record, Choice&) {
  if (!WasRestarted(record)) return std::nullopt;
  return TakeCauseOut<KeepsAway>(record);
}

// Returns true iff other workers detect that a worker had the fault. After a
// power loss no worker is left to detect it.
bool IsNoticed(const RecordFault& fault) {
  return EndsProcess(fault) || KeepsAway(fault);
}

bool IsSignOfLoss(const RecordEvent& event) {
  return event.kind == RecordKind::kWorkerLost ||
         (event.kind == RecordKind::kWorkerExited &&
          event.count == kLostWorkerExit);
}

// Returns the first event that shows that the occurrence was detected: another
// worker's report of a loss, or the launcher's start of an incarnation.
std::optional<EventPlace> FindSign(const Record& record, EventPlace fired) {
  const IncarnationEvents& lost = record.incarnations[fired.incarnation];
  const int64_t fired_ns = EventAt(record, fired).t_ns;
  std::optional<EventPlace> sign;
  const auto take = [&](EventPlace place) {
    const int64_t t_ns = EventAt(record, place).t_ns;
    if (t_ns <= fired_ns) return;
    if (!sign || t_ns < EventAt(record, *sign).t_ns) sign = place;
  };
  for (const EventPlace place : FindPlaces(record, IsSignOfLoss)) {
    if (place.incarnation != fired.incarnation) take(place);
  }
  for (const EventPlace place : PlacesOf(record, RecordKind::kWorkerStarted)) {
    if (record.incarnations[place.incarnation].number > lost.number)
      take(place);
  }
  return sign;
}

std::optional<Mutant> NoticeLate(const Record& record, Choice& choice) {
  const auto is_noticed = [&](const RecordEvent& event) {
    return std::ranges::any_of(record.faults, [&](const RecordFault& fault) {
      return IsOccurrence(event, fault.id) && IsNoticed(fault);
    });
  };
  return EditAny(record, FindPlaces(record, is_noticed), choice,
                 [](Record& changed, EventPlace fired, Choice&) {
                   const auto sign = FindSign(changed, fired);
                   if (!sign) return false;
                   DelayAllFrom(changed, *sign);
                   return true;
                 });
}

constexpr int64_t kGraceNs = 30'000'000'000;

// Returns true iff the fault is a preemption notice. Such a fault may also
// state for how long training may continue.
bool GivesNotice(const RecordFault& fault) { return fault.kind == "preempt"; }

uint64_t StepsBehind(const IncarnationEvents& incarnation, size_t index) {
  return static_cast<uint64_t>(
      std::count_if(incarnation.events.begin() + static_cast<ptrdiff_t>(index),
                    incarnation.events.end(), [](const RecordEvent& event) {
                      return event.kind == RecordKind::kStep;
                    }));
}

// Makes a worker receive a notice before a step, and train to the end as if it
// had received none. At least five steps follow that step.
std::optional<Mutant> IgnoreNotice(const Record& record, Choice& choice) {
  constexpr uint64_t kStepsBehind = 6;
  if (std::ranges::any_of(record.faults, GivesNotice)) return std::nullopt;
  return EditAny(
      record, PlacesOf(record, RecordKind::kStep), choice,
      [](Record& changed, EventPlace place, Choice&) {
        const IncarnationEvents& incarnation =
            changed.incarnations[place.incarnation];
        if (!FindIndex(incarnation, RecordKind::kFinished) ||
            FindIndex(incarnation, RecordKind::kStopAgreed) ||
            StepsBehind(incarnation, place.index) < kStepsBehind) {
          return false;
        }
        const RecordEvent step = EventAt(changed, place);
        RecordEvent fired = {.kind = RecordKind::kFaultFired,
                             .t_ns = step.t_ns,
                             .step = step.step,
                             .epoch = step.epoch,
                             .path = "step.begin",
                             .detail = "notice"};
        changed.faults.push_back({.id = "notice",
                                  .kind = "preempt",
                                  .worker = std::to_string(incarnation.worker),
                                  .point = "step.begin",
                                  .summary = "preempt at step.begin",
                                  .grace_ns = kGraceNs});
        InsertEvent(changed, place,
                    {.kind = RecordKind::kNotice, .t_ns = step.t_ns});
        InsertEvent(changed, place, std::move(fired));
        return true;
      });
}

}  // namespace

std::vector<Mutation> CauseMutations() {
  return {
      {"unexplained death", "fatal fault taken out", TakeFatalFaultOut},
      {"unexplained loss", "hang or cut taken out", TakeHangOrCutOut},
      {"loss noticed late", "sign of a loss an hour late", NoticeLate},
      {"notice unheeded", "notice ignored", IgnoreNotice},
  };
}

}  // namespace gauntlet
