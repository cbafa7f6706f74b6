#include "harness/explore/coverage/coverage.h"

#include <algorithm>
#include <array>

#include "engine/check.h"
#include "harness/oracle/history/training_position.h"
#include "harness/record/invariants.h"

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, kFaultPhases> kPhaseNames = {
    "joining",   "recovering", "in-epoch",  "evaluation",
    "callbacks", "saving",     "finishing",
};

bool IsOfFinish(Point point) {
  const RunPart part = InfoOf(point).part;
  return part == RunPart::kFinish || part == RunPart::kDeletion;
}

FaultPhase PhaseAfter(RecordPhase phase) {
  switch (phase) {
    case RecordPhase::kInEpoch:
      return FaultPhase::kInEpoch;
    case RecordPhase::kEvaluationDue:
      return FaultPhase::kEvaluation;
    case RecordPhase::kCallbacksDue:
      return FaultPhase::kCallbacks;
  }
  return FaultPhase::kInEpoch;
}

bool IsSaveEvent(RecordKind kind) {
  return kind == RecordKind::kSaveBegin ||
         kind == RecordKind::kSaveAcknowledged ||
         kind == RecordKind::kSaveFailed;
}

// Returns true iff a later incarnation of the worker had begun before `t_ns`.
bool HadSuccessor(const Record& record, const IncarnationEvents& incarnation,
                  int64_t t_ns) {
  return std::ranges::any_of(
      record.incarnations, [&](const IncarnationEvents& other) {
        return other.worker == incarnation.worker &&
               other.number > incarnation.number && !other.events.empty() &&
               other.events.front().t_ns < t_ns;
      });
}

// Returns true iff at `t_ns` a save of that attempt had begun and its end was
// not yet reported. Only the chief reports saves.
bool IsSaving(const Record& record, int incarnation, int64_t t_ns) {
  const RecordEvent* last = nullptr;
  for (const IncarnationEvents& one : record.incarnations) {
    // Without rejoins, all workers of the attempt are in incarnation
    // `incarnation`. With rejoins their numbers differ, so each worker's newest
    // incarnation at that time counts.
    if (one.number != incarnation && !record.setup.rejoins) continue;
    if (record.setup.rejoins && HadSuccessor(record, one, t_ns)) continue;
    for (const RecordEvent& event : one.events) {
      if (!IsSaveEvent(event.kind) || event.t_ns > t_ns) continue;
      if (last == nullptr || event.t_ns >= last->t_ns) last = &event;
    }
  }
  return last != nullptr && last->kind == RecordKind::kSaveBegin;
}

}  // namespace

std::string_view FaultPhaseName(FaultPhase phase) {
  return kPhaseNames[static_cast<size_t>(phase)];
}

FaultPhase PhaseOf(const Outline& outline, const FaultOccurrence& occurrence) {
  bool has_state = false;
  bool has_left = false;  // true: the worker left a generation to rejoin
  FaultPhase phase = FaultPhase::kInEpoch;
  for (size_t i = 0; i < occurrence.index; ++i) {
    const RecordEvent& event = occurrence.incarnation->events[i];
    if (IsOfStart(event.kind) || IsOfTraining(event.kind)) {
      has_state = true;
      phase = PhaseAfter(event.phase);
    } else if (event.kind == RecordKind::kLeft) {
      has_state = false;
      has_left = true;
    } else if (event.kind == RecordKind::kFinished ||
               event.kind == RecordKind::kBackupDeleted) {
      return FaultPhase::kFinishing;
    }
  }
  if (!has_state) {
    return occurrence.incarnation->number == 1 && !has_left
               ? FaultPhase::kJoining
               : FaultPhase::kRecovering;
  }
  const std::optional<Point> point = FindPoint(occurrence.event().path);
  if (point && IsOfFinish(*point)) return FaultPhase::kFinishing;
  if ((point && IsOfSave(*point)) ||
      IsSaving(outline.record, occurrence.incarnation->number,
               occurrence.event().t_ns)) {
    return FaultPhase::kSaving;
  }
  return phase;
}

std::vector<FiredFault> FiredFaultsOf(const Outline& outline) {
  std::vector<FiredFault> fired;
  std::set<const RecordFault*> seen;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    const auto kind = FindFaultKind(occurrence.fault->kind);
    const auto point = FindPoint(occurrence.event().path);
    if (!kind || !point || !seen.insert(occurrence.fault).second) continue;
    fired.push_back({.kind = *kind,
                     .point = *point,
                     .phase = PhaseOf(outline, occurrence),
                     .incarnation = occurrence.incarnation->number});
  }
  return fired;
}

std::vector<uint64_t> InstancesOf(const Verdict& verdict) {
  std::vector<uint64_t> instances;
  instances.reserve(verdict.invariants.size());
  for (const InvariantReport& report : verdict.invariants) {
    instances.push_back(report.instances);
  }
  return instances;
}

Coverage::Coverage() : instances_(AllInvariants().size()) {}

void Coverage::Add(uint64_t number, const std::vector<FiredFault>& fired,
                   const std::vector<uint64_t>& instances) {
  for (size_t i = 0; i < fired.size(); ++i) {
    const FiredFault& fault = fired[i];
    if (++fired_[{fault.point, fault.kind, fault.phase}] == 1) {
      last_new_ = number;
      points_.insert(fault.point);
    }
    if (i > 0) pairs_.emplace(fired[i - 1].point, fault.point);
  }
  for (size_t i = 0; i < std::min(instances.size(), instances_.size()); ++i) {
    instances_[i] += instances[i];
  }
}

void Coverage::AddPlan(const FaultPlan& plan) {
  for (const Fault& fault : plan.faults) {
    ++planned_[{fault.site.point, fault.kind}];
  }
}

std::set<FaultKind> Coverage::KindsFired() const {
  std::set<FaultKind> kinds;
  for (const auto& [key, count] : fired_) {
    kinds.insert(std::get<FaultKind>(key));
  }
  return kinds;
}

}  // namespace gauntlet
