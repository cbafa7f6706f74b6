// Decides when a worker with a preemption notice must request the stop.
//
// Without a grace period the request is immediate. With a grace period,
// training continues while the remaining time is enough for the operations
// until the next boundary at which a request takes effect, for the saves, and
// for the exit. The durations of operations and saves are measured: the longest
// of each kind in this incarnation counts. The duration of a save includes that
// of the retirement: the chief removes old checkpoints while training
// continues. The duration of a retirement is exact once the next save is done;
// until then it is rounded up to the end of an operation. If one of the
// operations is of a kind that was not measured yet, the request is immediate.
// If no save was measured yet, the worker first requests a save and continues.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_STOP_TIMING_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_STOP_TIMING_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/world/clock.h"

namespace gauntlet {

// Work between two boundaries. Workers exchange requests in each step and each
// evaluation.
enum class Operation : uint8_t { kStep, kEvaluation, kEpochEnd };

// Advice after a notice, at a boundary between two operations.
enum class StopAdvice { kContinue, kSaveAndContinue, kStop };

class StopTiming {
 public:
  // Time reserved in addition to the saves: for the exit, and in case a save is
  // slower than before.
  static constexpr Duration kMargin = std::chrono::seconds(1);

  // `grace`: time from a notice until the process is killed; 0: unknown.
  // `saves`: number of consecutive saves before the worker exits.
  explicit StopTiming(Duration grace, int saves = 1)
      : grace_(grace), saves_(saves) {}

  // Only the first notice counts: a repeated one grants no more time.
  void RecordNotice(Time now) {
    if (!noticed_) noticed_ = now;
  }
  bool has_notice() const { return noticed_.has_value(); }
  void RecordOperation(Operation operation, Duration duration) {
    std::optional<Duration>& longest = LongestOf(operation);
    longest = std::max(longest.value_or(Duration()), duration);
  }
  void RecordSave(Duration duration) {
    longest_save_ = std::max(longest_save_.value_or(Duration()), duration);
    last_save_so_far_ = Duration();
  }
  // Sets the duration of the last save so far, including the work for which
  // training does not wait. Valid until the next RecordSave.
  void RecordSaveSoFar(Duration duration) { last_save_so_far_ = duration; }

  // Returns the advice at the start of an operation. `ahead`: this operation
  // and the following ones, up to the next one in which workers exchange
  // requests.
  StopAdvice Advise(Time now, std::span<const Operation> ahead) const;

 private:
  std::optional<Duration>& LongestOf(Operation operation) {
    return longest_[static_cast<size_t>(operation)];
  }

  Duration grace_;
  int saves_;
  std::optional<Time> noticed_;
  std::array<std::optional<Duration>, 3> longest_;  // by Operation
  std::optional<Duration> longest_save_;
  Duration last_save_so_far_{0};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_STOP_TIMING_H_
