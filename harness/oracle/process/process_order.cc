#include "harness/oracle/process/process_order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "harness/oracle/history/history.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

void CheckEvents(const IncarnationEvents& incarnation, Check& check) {
  const Emitter by = {.worker = incarnation.worker,
                      .incarnation = incarnation.number};
  const std::vector<RecordEvent>& events = incarnation.events;
  for (size_t i = 0; i < events.size(); ++i) {
    if ((i == 0) != (events[i].kind == RecordKind::kWorkerStarted)) {
      check.Fail("beginning",
                 fmt::format("{}: event {} is {}", NameOf(by), i + 1,
                             RecordKindName(events[i].kind)));
    }
    if (i == 0) continue;
    if (events[i - 1].kind == RecordKind::kWorkerExited) {
      check.Fail("after-end",
                 fmt::format("{} emitted {} after its exit event", NameOf(by),
                             RecordKindName(events[i].kind)));
    }
    if (events[i].t_ns + kStampSlackNs < events[i - 1].t_ns) {
      check.Fail("time",
                 fmt::format("{}: time goes back from {} to {} ns", NameOf(by),
                             events[i - 1].t_ns, events[i].t_ns));
    }
  }
}

// REQUIRES: attempt >= 1.
int WorkersIn(const RunSetup& setup, int64_t attempt) {
  const std::vector<int>& listed = setup.workers_per_attempt;
  if (listed.empty()) return setup.workers;
  return listed[std::min(static_cast<size_t>(attempt), listed.size()) - 1];
}

// Returns true iff the incarnation can be the worker's next one after
// incarnation `last`. Numbers may be missing in between, if the worker did not
// take part in those attempts.
bool Follows(const RunSetup& setup, const IncarnationEvents& incarnation,
             int last) {
  if (incarnation.number <= last) return false;
  const bool can_shrink =
      setup.min_workers > 0 && setup.min_workers < setup.workers;
  if (can_shrink || setup.rejoins) return true;
  // Attempts after the last listed one have as many workers as that one.
  const auto listed = static_cast<int64_t>(setup.workers_per_attempt.size());
  const int64_t next = int64_t{last} + 1;
  const int64_t end =
      std::min<int64_t>(incarnation.number, std::max(next, listed) + 1);
  for (int64_t missing = next; missing < end; ++missing) {
    if (incarnation.worker < WorkersIn(setup, missing)) return false;
  }
  return true;
}

}  // namespace

void CheckProcessOrder(const Record& record, Check& check) {
  std::map<int, int> last_of_worker;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    check.Count();
    CheckEvents(incarnation, check);
    int& last = last_of_worker[incarnation.worker];
    if (!Follows(record.setup, incarnation, last)) {
      check.Fail("incarnations",
                 fmt::format("worker {}: incarnation {} follows {}",
                             incarnation.worker, incarnation.number, last));
    }
    last = incarnation.number;
  }
}

}  // namespace gauntlet
