// How often a job may start again, and how long it pauses before it does.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_RESTART_BUDGET_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_RESTART_BUDGET_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "engine/train/launcher/launcher.h"
#include "engine/world/clock.h"

namespace gauntlet {

class RestartBudget {
 public:
  explicit RestartBudget(const LauncherOptions& options);

  // A worker has come to that step.
  void Reached(uint64_t step) { furthest_ = std::max(furthest_, step); }

  // Notes a loss at `now`: of the whole job, or of workers that rejoin. Returns
  // why no restart may follow; "" if one may, which is then counted. The pause
  // before it doubles with each loss that follows the last restart sooner than
  // that pause, without a new step; otherwise it is options.backoff.
  std::string Spend(Time now);

  // Takes back the restart that was counted last: it did not happen.
  void TakeBack() { --spent_; }

  int spent() const { return spent_; }
  // True if no restart is left, whatever progress they bring.
  bool is_spent() const {
    return options_.restart == RestartPolicy::kNone ||
           spent_ >= options_.max_restarts;
  }
  // Restarts in a row without a new step.
  int restarts_without_progress() const {
    return furthest_ > furthest_before_ ? 0 : restarts_without_progress_;
  }
  // Pause before the restart that was counted last.
  Duration pause() const { return pause_; }

 private:
  const LauncherOptions& options_;
  int spent_ = 0;
  // Losses in a row without a new step before them.
  int restarts_without_progress_ = 0;
  uint64_t furthest_ = 0;
  uint64_t furthest_before_ = 0;
  Duration pause_{0};
  Duration next_pause_;
  Time last_restart_{};  // when the pause before it was over
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_RESTART_BUDGET_H_
