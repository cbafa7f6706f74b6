// detection: that a worker is lost is noticed within the bound: by those that
// train with it (they say so, or leave for it), or by the launcher, who starts
// anew. What becomes of others is no sign.
#include <algorithm>
#include <vector>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Whether the life had a state to train on, of the generation that it was in by
// then: one that has left another to rejoin is joining again.
bool HasJoined(const Firing& firing) {
  bool joined = false;
  for (size_t i = 0; i < firing.index; ++i) {
    const RecordKind kind = firing.life->events[i].kind;
    if (kind == RecordKind::kResumed || kind == RecordKind::kInitialized ||
        kind == RecordKind::kCarriedOn) {
      joined = true;
    } else if (kind == RecordKind::kLeft) {
      joined = false;
    }
  }
  return joined;
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

// Of the generation that the fault fired in, where workers restart singly; 0:
// it fired between two.
uint64_t GenerationAt(const Firing& firing) {
  uint64_t generation = 0;
  const std::vector<RecordEvent>& events = firing.life->events;
  for (size_t i = 0; i <= firing.index; ++i) {
    if (events[i].generation != 0) generation = events[i].generation;
    if (events[i].kind == RecordKind::kLeft) generation = 0;
  }
  return generation;
}

// The lives, or parts of lives, that train with the one that the fault fired
// in, or try to: nobody else can lose it.
std::vector<const LifeEvents*> OthersOf(const Evidence& evidence,
                                        const Firing& firing) {
  std::vector<const LifeEvents*> others;
  const auto add = [&](const LifeEvents& life) {
    if (!IsSameLife(life, *firing.life)) others.push_back(&life);
  };
  const uint64_t number = GenerationAt(firing);
  if (evidence.record.setup.rejoins && number != 0) {
    const auto generation = evidence.generations.find(
        {.era = evidence.EraOf(*firing.life), .number = number});
    if (generation == evidence.generations.end()) return others;
    for (const LifeEvents* life : generation->second.lives) add(*life);
    return others;
  }
  for (const LifeEvents& life : evidence.record.lives) {
    const bool together =
        evidence.record.setup.rejoins || life.life == firing.life->life;
    if (together) add(life);
  }
  return others;
}

struct Sign {
  int64_t t_ns = 0;
  bool of_restart = false;
};

// Whether a worker says by it that it has lost another one.
bool TellsOfALoss(const RecordEvent& event) {
  constexpr int kDone = 0;
  constexpr int kStopped = 143;
  if (event.kind == RecordKind::kLifeEnd) {
    return event.count != kDone && event.count != kStopped;
  }
  return event.kind == RecordKind::kWorkerLost;
}

// The first sign, after the firing, that somebody else knows: one of those that
// train with it says so, or the launcher starts its next life (or, where all
// start together, the next of any).
std::optional<Sign> NoticedAt(const Evidence& evidence, const Firing& firing) {
  std::optional<Sign> first;
  const auto take = [&](const RecordEvent& event) {
    if (event.t_ns <= firing.event().t_ns) return;
    if (first && first->t_ns <= event.t_ns) return;
    first = {.t_ns = event.t_ns,
             .of_restart = event.kind == RecordKind::kLifeBegin};
  };
  for (const LifeEvents* life : OthersOf(evidence, firing)) {
    for (const RecordEvent& event : life->events) {
      if (TellsOfALoss(event)) take(event);
    }
  }
  for (const LifeEvents& life : evidence.record.lives) {
    const bool next =
        life.life > firing.life->life &&
        (!evidence.record.setup.rejoins || life.worker == firing.life->worker);
    if (next && !life.events.empty()) take(life.events.front());
  }
  return first;
}

// How long those that trained with it were there after the firing.
int64_t OthersStayed(const Evidence& evidence, const Firing& firing) {
  int64_t stayed = 0;
  for (const LifeEvents* life : OthersOf(evidence, firing)) {
    if (life->events.empty()) continue;
    stayed = std::max(stayed, life->events.back().t_ns - firing.event().t_ns);
  }
  return stayed;
}

// Whether the worker was not lost. After a short hang it leaves by itself in
// the end. A trouble of the network leaves everybody his life; but no worker
// gets past the next step alone.
bool WentOn(const Firing& firing) {
  const std::vector<RecordEvent>& events = firing.life->events;
  if (!firing.traits.troubles_network) {
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

void CheckNoticed(const Evidence& evidence, const Firing& firing,
                  Check& check) {
  const std::optional<Sign> noticed = NoticedAt(evidence, firing);
  const int64_t took = noticed ? noticed->t_ns - firing.event().t_ns
                               : OthersStayed(evidence, firing);
  int64_t bound = BoundOf(evidence, firing, firing.event().t_ns + took);
  if (bound <= 0) return;
  // Where workers might have rejoined they are killed without a word, and the
  // launcher that did it pauses.
  if (noticed && noticed->of_restart) {
    bound += evidence.record.setup.restart_pause_ns;
  }
  // Where the loss ends the run there is nobody left to say so.
  if (!noticed && took <= bound) return;
  check.Instance();
  if (took <= bound) return;
  check.Breach(noticed ? "late" : "never",
               fmt::format("the loss of {} ({}) was {} {:.3f} s, expected at "
                           "most {:.3f} s",
                           NameOf(*firing.life), firing.fault->id,
                           noticed ? "noticed after" : "not noticed for",
                           static_cast<double>(took) / 1e9,
                           static_cast<double>(bound) / 1e9));
}

}  // namespace

void CheckDetection(const Evidence& evidence, Check& check) {
  for (const Firing& firing : evidence.firings) {
    const FaultTraits& traits = firing.traits;
    // From no moment on is its life lost; a scenario may say that it is at
    // once.
    const bool counts =
        !traits.creeps || evidence.record.expect.detected_in_max_ns;
    if (!traits.may_end_life || !counts || WentOn(firing)) continue;
    CheckNoticed(evidence, firing, check);
  }
}

}  // namespace gauntlet
