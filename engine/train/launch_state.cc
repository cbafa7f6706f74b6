#include "engine/train/launch_state.h"

#include <fmt/format.h>

namespace gauntlet {

bool LaunchState::CountRestart(const std::string& reason) {
  if (!why_give_up.empty()) return false;
  why_give_up = membership.too_few().empty()
                    ? budget.Spend()
                    : fmt::format("{} restarts, with too few workers left",
                                  budget.spent());
  if (!why_give_up.empty()) return false;
  observer.Restarting(budget.spent(), reason, budget.pause());
  return true;
}

}  // namespace gauntlet
