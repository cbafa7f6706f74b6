// Limits how often a job may restart, and computes the pause before each
// restart.
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

  // Called when a worker has reached the step.
  void RecordStep(uint64_t step) {
    furthest_step_ = std::max(furthest_step_, step);
  }

  // Counts a restart, of the whole job or of lost workers only, after a loss at
  // `now`. Returns "" if the restart is allowed, else the reason why not. Sets
  // the pause before an allowed restart. If, since the last restart, no new
  // step was reached and at most the doubled pause has passed, the pause
  // doubles. Otherwise it is options.backoff. It never exceeds
  // options.max_backoff.
  std::string Spend(Time now);

  // Subtracts the last counted restart, which did not take place.
  void Refund() { --spent_; }

  int spent() const { return spent_; }
  // True if the options allow no further restart, even after progress.
  bool is_spent() const {
    return options_.restart == RestartPolicy::kNone ||
           spent_ >= options_.max_restarts;
  }
  // Consecutive restarts, each without a new step since the one before; 0 once
  // a new step is reached.
  int restarts_without_progress() const {
    return furthest_step_ > furthest_step_before_ ? 0
                                                  : restarts_without_progress_;
  }
  // Pause before the newest restart that counts towards the budget.
  Duration pause() const { return pause_; }

 private:
  const LauncherOptions& options_;
  int spent_ = 0;
  // Consecutive restarts, each without a new step since the one before.
  int restarts_without_progress_ = 0;
  uint64_t furthest_step_ = 0;
  uint64_t furthest_step_before_ = 0;
  Duration pause_{0};
  Duration next_pause_;
  Time last_restart_{};  // end of the pause before the last restart
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_RESTART_BUDGET_H_
