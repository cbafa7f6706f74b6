// A moment of training: what a state, and so a checkpoint, is of.
#ifndef GAUNTLET_HARNESS_ORACLE_MOMENT_H_
#define GAUNTLET_HARNESS_ORACLE_MOMENT_H_

#include <compare>
#include <cstdint>
#include <map>
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

// The moment of a life's newest state, event by event. The events outlive it.
class MomentOfLife {
 public:
  void Take(const RecordEvent& event) {
    if (IsOfStart(event.kind) || IsOfTraining(event.kind)) {
      now_ = {.step = event.step, .phase = event.phase};
    } else if (event.kind == RecordKind::kSaveBegin) {
      Begin(event);
    }
  }
  // Of what the event tells of. A save's is the one at which it began: its
  // events name no phase, and training may have gone on since.
  Moment Of(const RecordEvent& event) const;

 private:
  void Begin(const RecordEvent& save);

  Moment now_;
  std::map<std::string_view, Moment> begun_;  // by path
};

// Of "…/step-000000150-g3" 150; nullopt for other names.
std::optional<uint64_t> StepOfPath(std::string_view path);
// The last part of a path.
std::string_view BaseName(std::string_view path);

// A checkpoint's name says its step, and its phase only where the step was
// saved at another one before: which it is of, those said who wrote or read it.
// The paths that they said outlive it.
class CheckpointNames {
 public:
  struct Written {
    Moment moment;
    // In which it was written, or a claim last read it to the last byte
    // (Generation::era).
    uint64_t era = 0;
  };

  void Say(std::string_view path, const Written& written);
  // A claim names the checkpoint as its parent: every byte of it verified.
  void Verified(std::string_view path, uint64_t era);
  // By the name; else by what comes before its generation, as was said last;
  // else by what the name itself says. nullopt: not a checkpoint's.
  std::optional<Written> Find(std::string_view path) const;

 private:
  std::map<std::string_view, Written> names_;
  std::map<std::string_view, Written> stems_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_MOMENT_H_
