// When a worker that was told to go has to ask for the stop.
//
// Without a grace period at once. With one, training goes on while the time
// that is left is enough for what comes until the next boundary that a request
// leads to, the save and the way out. What these take is measured, not guessed:
// the longest of its kind in this life counts, nothing is begun whose kind was
// not measured yet, and a run that has not saved yet saves first, so that it
// knows.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_STOP_TIMING_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_STOP_TIMING_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/world/clock.h"

namespace gauntlet {

// Work between two boundaries. A request rides with the first two.
enum class Operation : uint8_t { kStep, kEvaluation, kEpochEnd };

// Advice after a notice, at a boundary between two operations.
enum class StopAdvice { kGoOn, kSaveAndGoOn, kStop };

class StopTiming {
 public:
  // Time beside the save: for leaving, and for a save longer than the others.
  static constexpr Duration kMargin = std::chrono::seconds(1);

  // `grace` is the time from a notice until the process is killed; 0: not
  // known. `saves` follow one another before the worker leaves.
  explicit StopTiming(Duration grace, int saves = 1)
      : grace_(grace), saves_(saves) {}

  // The first one counts: a repeated notice gives no new time.
  void Noticed(Time now) {
    if (!noticed_) noticed_ = now;
  }
  bool noticed() const { return noticed_.has_value(); }
  void OperationTook(Operation operation, Duration duration) {
    std::optional<Duration>& longest = LongestOf(operation);
    longest = std::max(longest.value_or(Duration()), duration);
  }
  void SaveTook(Duration duration) {
    longest_save_ = std::max(longest_save_.value_or(Duration()), duration);
  }

  // At the begin of an operation: what runs until the stop that a request with
  // the next one would lead to, from this one on.
  StopAdvice Ask(Time now, std::span<const Operation> ahead) const;

 private:
  std::optional<Duration>& LongestOf(Operation operation) {
    return longest_[static_cast<size_t>(operation)];
  }

  Duration grace_;
  int saves_;
  std::optional<Time> noticed_;
  std::array<std::optional<Duration>, 3> longest_;  // by Operation
  std::optional<Duration> longest_save_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_STOP_TIMING_H_
