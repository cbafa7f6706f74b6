// detection: that a worker is lost is noticed within the bound: by the others
// (they say so, or end), or by the launcher, who starts anew.
#include <algorithm>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Whether the life had a state to train on by then.
bool HasJoined(const Firing& firing) {
  const std::vector<RecordEvent>& events = firing.life->events;
  return std::any_of(events.begin(),
                     events.begin() + static_cast<ptrdiff_t>(firing.index),
                     [](const RecordEvent& event) {
                       return event.kind == RecordKind::kResumed ||
                              event.kind == RecordKind::kInitialized;
                     });
}

int64_t BoundOf(const Evidence& evidence, const Firing& firing,
                int64_t noticed) {
  const Record& record = evidence.record;
  const RunSetup& setup = record.setup;
  if (record.expect.detected_in_max_ns) {
    return *record.expect.detected_in_max_ns;
  }
  if (!HasJoined(firing)) return setup.detection_bound_joining_ns;
  const int life = firing.life->life;
  // At the end all wait as long for each other as in a save.
  const bool saving = firing.fault->point.starts_with("ckpt.") ||
                      firing.fault->point == "run.finish" ||
                      evidence.IsSaving(life, firing.event().t_ns) ||
                      // The others went into one, and waited in it.
                      evidence.IsSaving(life, noticed - 1);
  return saving ? setup.detection_bound_saving_ns : setup.detection_bound_ns;
}

struct Sign {
  int64_t t_ns = 0;
  bool of_restart = false;
};

// The first sign, after the firing, that somebody else knows. A worker that a
// restart begins anew is a sign of its own: the launcher knows.
std::optional<Sign> NoticedAt(const Record& record, const Firing& firing) {
  std::optional<Sign> first;
  for (const LifeEvents& life : record.lives) {
    if (&life == firing.life) continue;
    for (const RecordEvent& event : life.events) {
      const bool sign = event.kind == RecordKind::kWorkerLost ||
                        event.kind == RecordKind::kLifeEnd ||
                        event.kind == RecordKind::kLifeBegin;
      if (!sign || event.t_ns <= firing.event().t_ns) continue;
      if (first && first->t_ns <= event.t_ns) continue;
      first = {.t_ns = event.t_ns,
               .of_restart = event.kind == RecordKind::kLifeBegin};
    }
  }
  return first;
}

// Whether the worker was not lost. After a short hang it leaves by itself in
// the end. A trouble of the network leaves everybody his life; but no worker
// gets past the next step alone.
bool WentOn(const Firing& firing, const FaultTraits& traits) {
  const std::vector<RecordEvent>& events = firing.life->events;
  if (!traits.troubles_network) {
    return events.back().kind == RecordKind::kLifeEnd;
  }
  return std::any_of(events.begin() + static_cast<ptrdiff_t>(firing.index),
                     events.end(), [&](const RecordEvent& event) {
                       const bool trained =
                           event.kind == RecordKind::kStep &&
                           event.step > firing.event().step + 1;
                       return trained || event.kind == RecordKind::kFinished;
                     });
}

}  // namespace

void CheckDetection(const Evidence& evidence, Check& check) {
  for (const Firing& firing : evidence.firings) {
    const FaultTraits traits = TraitsOf(*firing.fault);
    // From no moment on is its life lost; a scenario may say that it is at
    // once.
    const bool counts =
        !traits.creeps || evidence.record.expect.detected_in_max_ns;
    if (!traits.may_end_life || !counts || WentOn(firing, traits)) continue;
    const std::optional<Sign> noticed = NoticedAt(evidence.record, firing);
    // Where the loss ends the run there is nobody left to say so.
    if (!noticed) continue;
    int64_t bound = BoundOf(evidence, firing, noticed->t_ns);
    if (bound <= 0) continue;
    // Where workers might have rejoined they are killed without a word, and the
    // launcher that did it pauses.
    if (noticed->of_restart) bound += evidence.record.setup.restart_pause_ns;
    check.Instance();
    const int64_t took = noticed->t_ns - firing.event().t_ns;
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
