// detection: that a worker is lost is noticed within the bound: by the others
// (they say so, or end), or by the launcher, who starts anew.
#include <algorithm>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

int64_t BoundOf(const Record& record) {
  return record.expect.detected_in_max_ns.value_or(
      record.setup.detection_bound_ns);
}

// The first sign, after the firing, that somebody else knows. A worker that a
// restart begins anew is a sign of its own: the launcher knows.
std::optional<int64_t> NoticedAt(const Record& record, const Firing& firing) {
  std::optional<int64_t> first;
  for (const LifeEvents& life : record.lives) {
    if (&life == firing.life) continue;
    for (const RecordEvent& event : life.events) {
      const bool sign = event.kind == RecordKind::kWorkerLost ||
                        event.kind == RecordKind::kLifeEnd ||
                        event.kind == RecordKind::kLifeBegin;
      if (!sign || event.t_ns <= firing.event().t_ns) continue;
      first = std::min(first.value_or(event.t_ns), event.t_ns);
    }
  }
  return first;
}

}  // namespace

void CheckDetection(const Evidence& evidence, Check& check) {
  const int64_t bound = BoundOf(evidence.record);
  if (bound <= 0) return;
  for (const Firing& firing : evidence.firings) {
    // One that leaves by itself in the end (after a short hang) was not lost.
    const bool went_on =
        firing.life->events.back().kind == RecordKind::kLifeEnd;
    if (!TraitsOf(*firing.fault).may_end_life || went_on) continue;
    const std::optional<int64_t> noticed = NoticedAt(evidence.record, firing);
    // Where the loss ends the run there is nobody left to say so.
    if (!noticed) continue;
    check.Instance();
    const int64_t took = *noticed - firing.event().t_ns;
    if (took <= bound) continue;
    check.Breach("late",
                 fmt::format("the loss of {} ({}) was noticed after {:.3f} s, "
                             "expected at most {:.3f} s",
                             NameOf(*firing.life), firing.fault->id,
                             static_cast<double>(took) / 1e9,
                             static_cast<double>(bound) / 1e9));
  }
}

}  // namespace gauntlet
