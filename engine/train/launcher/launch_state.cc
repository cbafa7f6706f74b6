#include "engine/train/launcher/launch_state.h"

#include <algorithm>

#include <fmt/format.h>

namespace gauntlet {

bool LaunchState::CountRestart(const std::string& reason) {
  if (!why_give_up.empty()) return false;
  why_give_up = membership.too_few().empty()
                    ? budget.Spend(world.clock.Now())
                    : fmt::format("{} restarts, with too few workers left",
                                  budget.spent());
  if (!why_give_up.empty()) {
    const bool too_few = !membership.too_few().empty();
    world.events.Emit({.kind = EventKind::kGaveUp,
                       .reason = too_few             ? Reason::kTooFewWorkers
                                 : budget.is_spent() ? Reason::kRestartsUsedUp
                                                     : Reason::kNoProgress});
    return false;
  }
  world.events.Emit({.kind = EventKind::kRestarting,
                     .count = budget.spent(),
                     .about = blamed,
                     .limit_ns = budget.pause().count()});
  observer.Restarting(budget.spent(), reason, budget.pause());
  return true;
}

bool LaunchState::NoteNotFinite(uint64_t since) {
  const bool is_first = !not_finite_since;
  not_finite_since = std::min(since, not_finite_since.value_or(since));
  return is_first;
}

}  // namespace gauntlet
