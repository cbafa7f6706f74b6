#include "harness/record/reported_ends.h"

namespace gauntlet {

ReportedEnds::ReportedEnds(const Record& record) {
  for (const RecordEvent& event : record.machine) Add(event);
  for (const LauncherRun& run : record.launchers) {
    for (const RecordEvent& event : run.events) Add(event);
  }
}

const RecordEvent* ReportedEnds::Of(
    const IncarnationEvents& incarnation) const {
  const auto end = ends_.find({incarnation.worker, incarnation.number});
  return end == ends_.end() ? nullptr : end->second;
}

void ReportedEnds::Add(const RecordEvent& event) {
  const bool is_end = event.kind == RecordKind::kProcessEnded ||
                      event.kind == RecordKind::kExited;
  if (!is_end || !event.about) return;
  const int incarnation =
      *event.about == kLauncherWorker ? ++launchers_ended_ : event.incarnation;
  ends_.emplace(std::pair(*event.about, incarnation), &event);
}

}  // namespace gauntlet
