// A position in training: the step and phase of a state, and so of a
// checkpoint.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_TRAINING_POSITION_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_TRAINING_POSITION_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/record/base_name.h"
#include "harness/record/event.h"

namespace gauntlet {

// A position in training. The end of an epoch consists of several positions at
// the epoch's last step, in this order: evaluation due, callbacks due,
// kInEpoch. So kInEpoch is the latest position of a step.
struct TrainingPosition {
  uint64_t step = 0;
  RecordPhase phase = RecordPhase::kInEpoch;

  bool operator==(const TrainingPosition&) const = default;
  // In the order of training.
  std::strong_ordering operator<=>(const TrainingPosition& other) const;
};
// Returns the position of the state that an event reports.
inline TrainingPosition PositionOf(const RecordEvent& event) {
  return {.step = event.step, .phase = event.phase};
}
// Returns "before the evaluation" or "before the callbacks" for a phase at the
// end of an epoch; "" for kInEpoch.
std::string_view PhaseText(RecordPhase phase);
// Returns "6", or "6 (before the evaluation)" at the end of an epoch.
std::string ToText(const TrainingPosition& position);

// Returns true iff events of the kind report the state with which a worker
// starts.
constexpr bool IsOfStart(RecordKind kind) {
  return kind == RecordKind::kInitialized || kind == RecordKind::kResumed ||
         kind == RecordKind::kResumedFromMemory;
}
// Returns true iff events of the kind report that training moved on by one
// state: after a step, an evaluation or the end of an epoch.
constexpr bool IsOfTraining(RecordKind kind) {
  return kind == RecordKind::kStep || kind == RecordKind::kEvaluated ||
         kind == RecordKind::kEpochEnd;
}

// Returns 150 for "…/step-000000150-g3"; nullopt for a name without a step.
std::optional<uint64_t> StepOfPath(std::string_view path);
}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_TRAINING_POSITION_H_
