#include "engine/train/launcher/restart_budget.h"

#include <fmt/format.h>

namespace gauntlet {

RestartBudget::RestartBudget(const LauncherOptions& options)
    : options_(options),
      next_pause_(std::min(options.backoff, options.max_backoff)) {}

std::string RestartBudget::Spend(Time now) {
  const bool progressed = furthest_step_ > furthest_step_before_;
  if (progressed) {
    restarts_without_progress_ = 0;
  } else {
    ++restarts_without_progress_;
  }
  if (progressed || now - last_restart_ > next_pause_) {
    next_pause_ = std::min(options_.backoff, options_.max_backoff);
  }
  furthest_step_before_ = furthest_step_;
  if (is_spent()) {
    return fmt::format("{} {}", spent_, spent_ == 1 ? "restart" : "restarts");
  }
  if (restarts_without_progress_ > options_.max_restarts_without_progress) {
    return fmt::format(
        "{} {} without progress", restarts_without_progress_,
        restarts_without_progress_ == 1 ? "attempt" : "attempts");
  }
  ++spent_;
  pause_ = next_pause_;
  last_restart_ = now + pause_;
  next_pause_ = std::min(next_pause_ * 2, options_.max_backoff);
  return "";
}

}  // namespace gauntlet
