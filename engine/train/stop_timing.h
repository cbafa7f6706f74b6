// When a worker that was told to go has to ask for the stop.
//
// Without a grace period at once. With one, training goes on while the time
// that is left is enough for one more operation, the save and the way out. What
// these take is measured, not guessed: the longest of this life counts, and a
// run that has not saved yet saves first, so that it knows.
#ifndef GAUNTLET_ENGINE_TRAIN_STOP_TIMING_H_
#define GAUNTLET_ENGINE_TRAIN_STOP_TIMING_H_

#include <algorithm>
#include <optional>

#include "engine/world/clock.h"

namespace gauntlet {

// What a notice asks for at a boundary between two operations.
enum class StopAdvice { kGoOn, kSaveAndGoOn, kStop };

class StopTiming {
 public:
  // Beside the save: the way out, and a save that takes longer than the others.
  static constexpr Duration kMargin = std::chrono::seconds(1);

  // From a notice until the process is killed; 0: not known.
  explicit StopTiming(Duration grace) : grace_(grace) {}

  // The first one counts: a repeated notice gives no new time.
  void Noticed(Time now) {
    if (!noticed_) noticed_ = now;
  }
  bool noticed() const { return noticed_.has_value(); }
  void OperationTook(Duration duration) {
    longest_operation_ = std::max(longest_operation_, duration);
  }
  void SaveTook(Duration duration) {
    longest_save_ = std::max(longest_save_.value_or(Duration()), duration);
  }

  StopAdvice Ask(Time now) const;

 private:
  Duration grace_;
  std::optional<Time> noticed_;
  Duration longest_operation_{0};
  std::optional<Duration> longest_save_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STOP_TIMING_H_
