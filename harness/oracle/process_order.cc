#include "harness/oracle/process_order.h"

#include <algorithm>
#include <map>
#include <vector>

#include "harness/oracle/history.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

void CheckEvents(const LifeEvents& life, Check& check) {
  const Emitter by = {.worker = life.worker, .incarnation = life.life};
  const std::vector<RecordEvent>& events = life.events;
  for (size_t i = 0; i < events.size(); ++i) {
    if ((i == 0) != (events[i].kind == RecordKind::kLifeBegin)) {
      check.Breach("beginning",
                   fmt::format("{}: its event {} is {}", NameOf(by), i + 1,
                               RecordKindName(events[i].kind)));
    }
    if (i == 0) continue;
    if (events[i - 1].kind == RecordKind::kLifeEnd) {
      check.Breach("after-end",
                   fmt::format("{} says {} after its end", NameOf(by),
                               RecordKindName(events[i].kind)));
    }
    if (events[i].t_ns + kStampSlackNs < events[i - 1].t_ns) {
      check.Breach(
          "time", fmt::format("{}: time goes back from {} to {} ns", NameOf(by),
                              events[i - 1].t_ns, events[i].t_ns));
    }
  }
}

int WorkersIn(const RunSetup& setup, int life) {
  const std::vector<int>& by_life = setup.workers_by_life;
  if (by_life.empty()) return setup.workers;
  const auto index = static_cast<size_t>(std::max(life, 1)) - 1;
  return by_life[std::min(index, by_life.size() - 1)];
}

// Whether the worker need not be in that start of the job.
bool MayBeLeftOut(const RunSetup& setup, int worker, int life) {
  const bool can_shrink =
      setup.min_workers > 0 && setup.min_workers < setup.workers;
  return can_shrink || setup.rejoins || worker >= WorkersIn(setup, life);
}

// Whether the worker's processes go on with that one.
bool Follows(const RunSetup& setup, const LifeEvents& life, int last) {
  if (life.life <= last) return false;
  for (int missing = last + 1; missing < life.life; ++missing) {
    if (!MayBeLeftOut(setup, life.worker, missing)) return false;
  }
  return true;
}

}  // namespace

void CheckProcessOrder(const Record& record, Check& check) {
  std::map<int, int> last_of_worker;
  for (const LifeEvents& life : record.lives) {
    check.Instance();
    CheckEvents(life, check);
    int& last = last_of_worker[life.worker];
    if (!Follows(record.setup, life, last)) {
      check.Breach("lives", fmt::format("worker {}: incarnation {} follows {}",
                                        life.worker, life.life, last));
    }
    last = life.life;
  }
}

}  // namespace gauntlet
