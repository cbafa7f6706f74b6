#include "harness/oracle/process/process_order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "harness/oracle/history/history.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

void CheckEvents(const LifeEvents& life, Check& check) {
  const Emitter by = {.worker = life.worker, .incarnation = life.life};
  const std::vector<RecordEvent>& events = life.events;
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

// Returns true iff the incarnation may be the worker's next one after `last`.
// The attempts between them may have run without the worker.
bool Follows(const RunSetup& setup, const LifeEvents& life, int last) {
  if (life.life <= last) return false;
  const bool can_shrink =
      setup.min_workers > 0 && setup.min_workers < setup.workers;
  if (can_shrink || setup.rejoins) return true;
  // Attempts after the last listed one have as many workers as that one.
  const auto listed = static_cast<int64_t>(setup.workers_per_attempt.size());
  const int64_t next = int64_t{last} + 1;
  const int64_t end = std::min<int64_t>(life.life, std::max(next, listed) + 1);
  for (int64_t missing = next; missing < end; ++missing) {
    if (life.worker < WorkersIn(setup, missing)) return false;
  }
  return true;
}

}  // namespace

void CheckProcessOrder(const Record& record, Check& check) {
  std::map<int, int> last_of_worker;
  for (const LifeEvents& life : record.lives) {
    check.Count();
    CheckEvents(life, check);
    int& last = last_of_worker[life.worker];
    if (!Follows(record.setup, life, last)) {
      check.Fail("lives", fmt::format("worker {}: incarnation {} follows {}",
                                      life.worker, life.life, last));
    }
    last = life.life;
  }
}

}  // namespace gauntlet
