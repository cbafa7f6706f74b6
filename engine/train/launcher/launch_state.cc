#include "engine/train/launcher/launch_state.h"

#include <algorithm>

#include <fmt/format.h>

namespace gauntlet {

bool LaunchState::CountRestart(const std::string& reason) {
  if (!give_up_reason.empty()) return false;
  give_up_reason = membership.too_few_reason().empty()
                       ? budget.Spend(world.clock.Now())
                       : fmt::format("{} restarts, with too few workers left",
                                     budget.spent());
  if (!give_up_reason.empty()) {
    const bool too_few = !membership.too_few_reason().empty();
    world.events.Emit({.kind = EventKind::kGaveUp,
                       .reason = too_few             ? Reason::kTooFewWorkers
                                 : budget.is_spent() ? Reason::kRestartsUsedUp
                                                     : Reason::kNoProgress});
    return false;
  }
  world.events.Emit({.kind = EventKind::kRestarting,
                     .count = budget.spent(),
                     .about = culprit,
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
