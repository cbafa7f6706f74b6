// history-consistent: the events of all incarnations make one history without
// gaps.
//
// Within a life: it begins with its beginning, time goes on, steps count up by
// one from where it resumed or carried on, and nothing comes after its end.
// Across lives: each worker's are numbered without a gap but for lives of the
// job that it had no part in, and those that trained belong to ever newer
// generations (a late survivor may claim one, but has nobody to train with,
// unless one is enough). A finished run has done every step.
#include <algorithm>
#include <map>
#include <vector>

#include "harness/oracle/generation.h"
#include "harness/oracle/history.h"
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

void CheckOrder(const LifeEvents& life, Check& check) {
  const std::vector<RecordEvent>& events = life.events;
  if (!events.empty() && events.front().kind != RecordKind::kLifeBegin) {
    check.Breach("beginning", fmt::format("{} begins with {}", NameOf(life),
                                          RecordKindName(events.front().kind)));
  }
  for (size_t i = 1; i < events.size(); ++i) {
    if (events[i - 1].kind == RecordKind::kLifeEnd) {
      check.Breach("after-end",
                   fmt::format("{} says {} after its end", NameOf(life),
                               RecordKindName(events[i].kind)));
    }
    if (events[i].t_ns + kStampSlackNs < events[i - 1].t_ns) {
      check.Breach("time", fmt::format("{}: time goes back from {} to {} ns",
                                       NameOf(life), events[i - 1].t_ns,
                                       events[i].t_ns));
    }
  }
}

void CheckSteps(const LifeEvents& life, std::vector<uint64_t>& done,
                Check& check) {
  std::optional<uint64_t> last;
  for (const RecordEvent& event : life.events) {
    if (event.kind == RecordKind::kResumed ||
        event.kind == RecordKind::kCarriedOn) {
      last = event.step;
    }
    if (event.kind == RecordKind::kInitialized) last = 0;
    if (event.kind != RecordKind::kStep) continue;
    done.push_back(event.step);
    if (!last || event.step != *last + 1) {
      check.Breach("steps", fmt::format("{}: step {} follows {}", NameOf(life),
                                        event.step,
                                        last ? fmt::format("step {}", *last)
                                             : "neither a load nor a start"));
    }
    last = event.step;
  }
}

// Whether the worker need not be in that life of the job.
bool MayBeLeftOut(const RunSetup& setup, int worker, int life) {
  const bool can_shrink =
      setup.min_workers > 0 && setup.min_workers < setup.workers;
  if (can_shrink || setup.rejoins) return true;
  return worker >= WorkersIn(setup, life);
}

// Whether a worker of that life of the job may have trained alone: then it goes
// on where it was given up.
bool MayTrainAlone(const RunSetup& setup, int life) {
  return setup.min_workers == 1 || WorkersIn(setup, life) == 1;
}

// Whether the worker's lives go on with that one.
bool Follows(const RunSetup& setup, const LifeEvents& life, int last) {
  if (life.life <= last) return false;
  for (int missing = last + 1; missing < life.life; ++missing) {
    if (!MayBeLeftOut(setup, life.worker, missing)) return false;
  }
  return true;
}

bool HasTrained(const LifeEvents& life) {
  return std::any_of(
      life.events.begin(), life.events.end(),
      [](const RecordEvent& event) { return event.kind == RecordKind::kStep; });
}

}  // namespace

void CheckEventsMerge(const Evidence& evidence, Check& check) {
  std::map<int, int> last_life;
  std::vector<uint64_t> done;  // steps
  for (const LifeEvents& life : evidence.record.lives) {
    check.Instance();
    CheckOrder(life, check);
    CheckSteps(life, done, check);
    int& last = last_life[life.worker];
    if (!Follows(evidence.record.setup, life, last)) {
      check.Breach("lives", fmt::format("worker {}: incarnation {} follows {}",
                                        life.worker, life.life, last));
    }
    last = life.life;
  }
  std::map<int, int> newest;
  for (const auto& [id, generation] : evidence.generations) {
    for (const LifeEvents* life : generation.lives) {
      int& before = newest[life->worker];
      if (life->life < before && HasTrained(*life) &&
          !MayTrainAlone(evidence.record.setup, life->life)) {
        check.Breach("generations",
                     fmt::format("{} is of generation {}, a later incarnation "
                                 "was of an older one",
                                 NameOf(*life), id.number));
      }
      before = std::max(before, life->life);
    }
  }
  if (!evidence.Done()) return;
  const uint64_t steps = evidence.record.launchers.back().result->steps;
  std::ranges::sort(done);
  done.erase(std::unique(done.begin(), done.end()), done.end());
  if (done.size() != steps || (!done.empty() && done.back() != steps)) {
    check.Breach("missing", fmt::format("the run counts {} steps, the events "
                                        "have {} different ones",
                                        steps, done.size()));
  }
}

}  // namespace gauntlet
