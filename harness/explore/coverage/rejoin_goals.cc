#include "harness/explore/coverage/rejoin_goals.h"

#include <algorithm>

#include "harness/explore/coverage/incarnation_end.h"

namespace gauntlet {
namespace {

bool IsTakeover(const RecordEvent& event) {
  return event.kind == RecordKind::kResumedFromMemory && event.detail != "kept";
}

bool IsOfKind(const IncarnationEvents& incarnation, RecordKind kind) {
  return !incarnation.events.empty() && incarnation.events.front().kind == kind;
}

template <typename Predicate>
bool AnyGeneration(const GoalScene& scene, Predicate predicate) {
  return std::ranges::any_of(scene.outline.generations, predicate);
}

}  // namespace

bool TookASurvivorsStepAhead(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    const auto left = std::ranges::find(incarnation.events, RecordKind::kLeft,
                                        &RecordEvent::kind);
    return std::any_of(left, incarnation.events.end(), IsTakeover);
  });
}

bool ChiefRejoined(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    return IsOfKind(incarnation, RecordKind::kWorkerStarted) &&
           incarnation.events.front().count == 0 && incarnation.number > 1 &&
           std::ranges::any_of(incarnation.events, IsTakeover);
  });
}

bool WentOnWithFewer(const GoalScene& scene) {
  const RunSetup& setup = scene.outline.record.setup;
  return setup.min_workers > 0 && setup.workers_per_attempt.empty() &&
         AnyGeneration(scene, [&](const Generation& generation) {
           return generation.HaveAllFinished() &&
                  static_cast<int>(generation.workers.size()) < setup.workers;
         });
}

bool DiedWhileRejoining(const GoalScene& scene) {
  const std::vector<FaultOccurrence>& occurrences = scene.outline.occurrences;
  return std::ranges::any_of(
      occurrences, [](const FaultOccurrence& occurrence) {
        const std::optional<Point> point = FindPoint(occurrence.event().path);
        return DiedThere(occurrence) && point &&
               InfoOf(*point).part == RunPart::kRejoin;
      });
}

bool RejoinFellBack(const GoalScene& scene) {
  bool some_left = false;
  for (const Generation& generation : scene.outline.generations) {
    if (some_left && generation.resumed) return true;
    some_left = some_left || generation.some_left;
  }
  return false;
}

bool RejoinedTwice(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    return std::ranges::count(incarnation.events,
                              RecordKind::kResumedFromMemory,
                              &RecordEvent::kind) > 1;
  });
}

bool MadeUpForASave(const GoalScene& scene) {
  return AnyGeneration(scene, [](const Generation& generation) {
    return generation.resumed_from_memory &&
           std::ranges::find(generation.saves,
                             *generation.resumed_from_memory) !=
               generation.saves.end();
  });
}

}  // namespace gauntlet
