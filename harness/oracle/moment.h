// A moment of training: what a state, and so a checkpoint, is of.
#ifndef GAUNTLET_HARNESS_ORACLE_MOMENT_H_
#define GAUNTLET_HARNESS_ORACLE_MOMENT_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/record/event.h"

namespace gauntlet {

// One step may have several: what is due after an epoch's last step comes
// before the next epoch, so a state in an epoch is the latest of its step.
struct Moment {
  uint64_t step = 0;
  RecordPhase phase = RecordPhase::kInEpoch;

  bool operator==(const Moment&) const = default;
  // In the order of training.
  std::strong_ordering operator<=>(const Moment& other) const;
};
// Of the state that an event tells of.
inline Moment MomentOf(const RecordEvent& event) {
  return {.step = event.step, .phase = event.phase};
}
// "6", or "6 (evaluation_due)".
std::string ToText(const Moment& moment);

// Whether a worker says with such an event that it has a state to train on.
constexpr bool IsOfStart(RecordKind kind) {
  return kind == RecordKind::kInitialized || kind == RecordKind::kResumed ||
         kind == RecordKind::kCarriedOn;
}
// Whether it says with it that the next state came out of the one before.
constexpr bool IsOfTraining(RecordKind kind) {
  return kind == RecordKind::kStep || kind == RecordKind::kEvaluated ||
         kind == RecordKind::kEpochEnd;
}

// Of "…/step-000000150-g3" 150; nullopt for other names.
std::optional<uint64_t> StepOfPath(std::string_view path);
// The last part of a path.
std::string_view BaseName(std::string_view path);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_MOMENT_H_
