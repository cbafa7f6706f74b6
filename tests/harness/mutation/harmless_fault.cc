#include "tests/harness/mutation/harmless_fault.h"

#include <algorithm>
#include <array>
#include <string>

#include "tests/harness/mutation/record_edit.h"

namespace gauntlet {
namespace {

constexpr std::array<HarmlessFault, 7> kFaults = {{
    {"none", std::nullopt},
    {"slow 1 ms", FaultKind::kSlow},
    {"hang 1 ms", FaultKind::kHang},
    {"pause 1 ms", FaultKind::kPause},
    {"partition 1 ms", FaultKind::kPartition},
    {"delay 1 ms", FaultKind::kDelay},
    {"packet loss 1 ms", FaultKind::kPacketLoss},
}};

FaultParameters ShortFault(FaultKind kind) {
  constexpr Duration kShort = std::chrono::milliseconds(1);
  FaultParameters with;
  if (kind == FaultKind::kSlow || kind == FaultKind::kDelay) {
    with.latency = kShort;
  }
  if (kind != FaultKind::kSlow) with.duration = kShort;
  return with;
}

// The first occurrence of a fault in the record.
struct Occurrence {
  int worker = -1;  // -1 if no fault occurred
  int64_t t_ns = INT64_MAX;
};

Occurrence FirstOccurrence(const Record& record) {
  Occurrence first;
  for (const EventPlace place : PlacesOf(record, RecordKind::kFaultFired)) {
    const RecordEvent& event = EventAt(record, place);
    if (event.t_ns >= first.t_ns) continue;
    first = {.worker = record.incarnations[place.incarnation].worker,
             .t_ns = event.t_ns};
  }
  return first;
}

// Returns the last step that the incarnation trained before `t_ns`, minus five.
// Returns its first step if it trained too few; 0 if it trained none.
uint64_t StepBefore(const IncarnationEvents& incarnation, int64_t t_ns) {
  constexpr uint64_t kStepsBefore = 5;
  uint64_t first = 0;
  uint64_t last = 0;
  for (const RecordEvent& event : incarnation.events) {
    if (event.kind != RecordKind::kStep || event.t_ns >= t_ns) continue;
    if (first == 0) first = event.step;
    last = event.step;
  }
  return last > first + kStepsBefore ? last - kStepsBefore : first;
}

}  // namespace

std::span<const HarmlessFault> AllHarmlessFaults() { return kFaults; }

std::optional<Case> WithHarmlessFault(const Case& one, HarmlessFault fault,
                                      const Record& record) {
  if (!fault.kind) return one;
  if (IsNetworkFault(*fault.kind) && one.cluster.workers < 2)
    return std::nullopt;
  const Occurrence first = FirstOccurrence(record);
  const IncarnationEvents* chosen = nullptr;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.number != 1 || StepBefore(incarnation, first.t_ns) == 0)
      continue;
    const bool is_better =
        chosen == nullptr || incarnation.worker != first.worker;
    if (is_better) chosen = &incarnation;
  }
  if (chosen == nullptr) return std::nullopt;
  Case changed = one;
  changed.plan.faults.push_back(
      {.id = std::string(kHarmlessFaultId),
       .site = {.worker = chosen->worker,
                .step = StepBefore(*chosen, first.t_ns),
                .epoch = std::nullopt,
                .point = Point::kStepBegin,
                .offset = std::nullopt},
       .kind = *fault.kind,
       .after = {},
       .with = ShortFault(*fault.kind)});
  if (!Validate(changed.plan).ok()) return std::nullopt;
  return changed;
}

}  // namespace gauntlet
