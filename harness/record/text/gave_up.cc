#include "harness/record/text/gave_up.h"

#include <algorithm>

#include "engine/restart_limits.h"
#include <fmt/format.h>

namespace gauntlet {

const RecordEvent* FindGaveUp(const Record& record) {
  for (const LauncherRun& run : record.launchers) {
    for (const RecordEvent& event : run.events) {
      if (event.kind == RecordKind::kGaveUp) return &event;
    }
  }
  return nullptr;
}

std::string GaveUpReasonText(const RunSetup& setup, const RecordEvent& event) {
  std::string reason(RecordReasonName(event.reason));
  std::ranges::replace(reason, '_', ' ');
  if (event.reason == RecordReason::kNoProgress) {
    return fmt::format(
        "{} (the limit is {} restarts in a row that reach no new step; "
        "cluster.restart.max does not raise it)",
        reason, kMaxRestartsWithoutProgress);
  }
  if (event.reason != RecordReason::kRestartsUsedUp) return reason;
  if (setup.never_restarts) {
    return "cluster.restart.policy is none, so no restart is allowed";
  }
  return fmt::format("{} (cluster.restart.max is {})", reason,
                     setup.max_restarts);
}

}  // namespace gauntlet
