// detection: that a worker is lost is noticed within the bound: by those that
// train with it (they say so, or leave for it), or by the launcher, who starts
// anew. What becomes of others is no sign.
#include <algorithm>
#include <vector>

#include "engine/worker_exit_code.h"
#include "harness/oracle/fault_traits.h"
#include "harness/oracle/invariants.h"
#include "harness/oracle/peers.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Whether a life may be lost from that moment on. With a fault that creeps
// there is none; a scenario may say that it is at once. The network of one that
// is alone loses nobody, or takes it from a launcher that gives it up by a time
// of its own.
bool MayLose(const Evidence& evidence, const Firing& firing) {
  if (!firing.traits.may_end_life) return false;
  if (evidence.record.expect.detected_in_max_ns) return true;
  return !firing.traits.creeps && (!firing.traits.troubles_network ||
                                   !PeersOf(evidence, firing).empty());
}

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

// How long it stands in the way; nullopt: for as long as the life does.
std::optional<int64_t> Lasts(const RecordFault& fault) {
  if (fault.latency_ns > 0 && !fault.always) return fault.latency_ns;
  if (fault.duration_ns > 0) return fault.duration_ns;
  return std::nullopt;
}

int64_t OverAt(const Firing& firing) {
  const std::optional<int64_t> lasts = Lasts(*firing.fault);
  return lasts ? firing.event().t_ns + *lasts : INT64_MAX;
}

// Whether it was over by then without a trace: nobody takes so short a silence
// for a loss.
bool PassedBy(const Evidence& evidence, const Firing& firing, int64_t t_ns) {
  return OverAt(firing) <= t_ns &&
         *Lasts(*firing.fault) < evidence.record.setup.silence_limit_ns;
}

// Whether the grace of a notice was over by then, and it had not left.
bool DiedOfANotice(const Firing& firing, int64_t t_ns) {
  return firing.traits.gives_notice &&
         firing.event().t_ns + firing.fault->grace_ns <= t_ns &&
         firing.life->events.back().kind != RecordKind::kLifeEnd;
}

// Whether its generation may have come apart before it: where workers rejoin,
// all are about to meet again.
bool IsBetweenTwo(const Evidence& evidence, const Firing& firing) {
  if (!evidence.record.setup.rejoins) return false;
  const std::vector<const LifeEvents*> peers = PeersOf(evidence, firing);
  return std::ranges::any_of(evidence.firings, [&](const Firing& before) {
    if ((!MayLose(evidence, before) &&
         !DiedOfANotice(before, firing.event().t_ns)) ||
        PassedBy(evidence, before, firing.event().t_ns)) {
      return false;
    }
    return IsBefore(before, firing) ||
           (before.event().t_ns <= firing.event().t_ns &&
            IsAnyOf(peers, *before.life) &&
            GenerationAt(before) == GenerationAt(firing));
  });
}

// Whether what it does shows only in what the worker does next with its device,
// which after a step may be a save.
bool ShowsInASave(const RecordFault& fault) {
  return fault.kind == "device_hang" &&
         (fault.point == "step.end" || fault.point == "epoch.end");
}

// Whether some that train with it had done all by then.
bool HadAnyFinished(const Evidence& evidence, const Firing& firing,
                    int64_t t_ns) {
  return std::ranges::any_of(
      PeersOf(evidence, firing), [&](const LifeEvents* life) {
        return std::ranges::any_of(life->events, [&](const RecordEvent& event) {
          return event.kind == RecordKind::kFinished && event.t_ns <= t_ns;
        });
      });
}

int64_t BoundOf(const Evidence& evidence, const Firing& firing,
                int64_t noticed) {
  const Record& record = evidence.record;
  const RunSetup& setup = record.setup;
  if (record.expect.detected_in_max_ns) {
    return *record.expect.detected_in_max_ns;
  }
  if (!HasJoined(firing) || IsBetweenTwo(evidence, firing)) {
    return setup.detection_bound_joining_ns;
  }
  const int life = firing.life->life;
  // At the end all wait as long for each other as in a save.
  const bool saving = firing.fault->point.starts_with("ckpt.") ||
                      firing.fault->point == "run.finish" ||
                      HadAnyFinished(evidence, firing, noticed - 1) ||
                      ShowsInASave(*firing.fault) ||
                      evidence.IsSaving(life, firing.event().t_ns) ||
                      // The others went into one, and waited in it.
                      evidence.IsSaving(life, noticed - 1);
  return saving ? setup.detection_bound_saving_ns : setup.detection_bound_ns;
}

struct Sign {
  int64_t t_ns = 0;
  bool of_restart = false;
};

// Whether a worker says by it that it has lost another one.
bool TellsOfALoss(const RecordEvent& event) {
  if (event.kind == RecordKind::kLifeEnd) {
    return !IsOrderlyExit(event.count);
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
  for (const LifeEvents* life : PeersOf(evidence, firing)) {
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
  for (const LifeEvents* life : PeersOf(evidence, firing)) {
    if (life->events.empty()) continue;
    stayed = std::max(stayed, life->events.back().t_ns - firing.event().t_ns);
  }
  return stayed;
}

// Whether its worker may have come to its end by it by then: by a notice, where
// its grace was over.
bool MayHaveEndedIt(const Firing& firing, int64_t t_ns) {
  if (firing.event().t_ns > t_ns) return false;
  return firing.traits.may_end_life || DiedOfANotice(firing, t_ns);
}

// Whether one of them met a fault that it may have been lost by itself: the
// launcher then ends the others.
bool AnyMayBeLost(const Evidence& evidence,
                  const std::vector<const LifeEvents*>& lives, int64_t t_ns) {
  return std::ranges::any_of(evidence.firings, [&](const Firing& firing) {
    return MayHaveEndedIt(firing, t_ns) && IsAnyOf(lives, *firing.life);
  });
}

// Whether what a fault does goes on in the generation that another fired in, or
// it fired in that one or between two.
bool MayStandIn(const Evidence& evidence, const Firing& met,
                const Firing& firing) {
  if (!evidence.record.setup.rejoins || !Lasts(*met.fault)) return true;
  const uint64_t one = GenerationAt(met);
  const uint64_t other = GenerationAt(firing);
  return one == 0 || other == 0 || one == other;
}

// Whether something else kept the launcher from hearing of the worker's end, or
// ended it where the launcher could not hear of it.
bool EndedOutOfReach(const Evidence& evidence, const Firing& firing,
                     int64_t noticed) {
  return std::ranges::any_of(evidence.firings, [&](const Firing& met) {
    if (!IsSameLife(*met.life, *firing.life) || met.index == firing.index ||
        met.event().t_ns > noticed ||
        PassedBy(evidence, met, firing.event().t_ns)) {
      return false;
    }
    return met.traits.troubles_network ||
           (firing.traits.troubles_network && MayHaveEndedIt(met, noticed));
  });
}

// How much later they may notice it, as they were held up themselves; nullopt:
// there is no saying, as a fault crept in one of them, or before it in the lost
// one, or as the launcher that alone noticed it had lost its way to one of
// them. A scenario's own bound is what it says.
std::optional<int64_t> HeldUp(const Evidence& evidence, const Firing& firing,
                              int64_t noticed, bool by_restart) {
  if (evidence.record.expect.detected_in_max_ns) return 0;
  int64_t held_up = 0;
  const std::vector<const LifeEvents*> peers = PeersOf(evidence, firing);
  if (by_restart && (EndedOutOfReach(evidence, firing, noticed) ||
                     (firing.traits.troubles_network &&
                      AnyMayBeLost(evidence, peers, noticed)))) {
    return std::nullopt;
  }
  for (const Firing& met : evidence.firings) {
    const bool in_peer =
        IsAnyOf(peers, *met.life) && MayStandIn(evidence, met, firing);
    if (met.event().t_ns > noticed || (!in_peer && !IsBefore(met, firing)) ||
        PassedBy(evidence, met, firing.event().t_ns)) {
      continue;
    }
    if (met.traits.creeps) return std::nullopt;
    if (met.traits.troubles_network) {
      if (by_restart) return std::nullopt;
      continue;
    }
    const int64_t from = std::max(met.event().t_ns, firing.event().t_ns);
    if (in_peer && Lasts(*met.fault) && OverAt(met) > from) {
      held_up += OverAt(met) - from;
    }
  }
  return held_up;
}

// Whether the worker was not lost. What stands still for good in one task of it
// nobody has to notice where its others go on, and it leaves by itself in the
// end; what ends may be over before anybody has to. A trouble of the network
// leaves everybody his life; but it is none where it is over before silence is
// taken for a loss, and no worker gets past the next step alone.
bool WentOn(const Evidence& evidence, const Firing& firing) {
  const std::vector<RecordEvent>& events = firing.life->events;
  const int64_t duration = firing.fault->duration_ns;
  const bool is_over =
      duration > 0 && events.back().t_ns > firing.event().t_ns + duration;
  if (!firing.traits.troubles_network) {
    // A bound of 0 is not known.
    const int64_t most = evidence.record.setup.detection_bound_joining_ns;
    if (is_over) return most == 0 || duration <= most;
    return events.back().kind == RecordKind::kLifeEnd;
  }
  if (is_over && duration < evidence.record.setup.silence_limit_ns) return true;
  return std::any_of(events.begin() + static_cast<ptrdiff_t>(firing.index),
                     events.end(), [&](const RecordEvent& event) {
                       const bool trained =
                           event.kind == RecordKind::kStep &&
                           event.step > firing.event().step + 1;
                       return trained || event.kind == RecordKind::kFinished;
                     });
}

// Of the launcher, before it starts the life that followed this one.
int64_t PauseAfter(const LifeEvents& life, const RunSetup& setup) {
  if (setup.first_restart_pause_ns == 0) return setup.restart_pause_ns;
  int64_t pause = setup.first_restart_pause_ns;
  for (int n = 1; n < life.life && pause < setup.restart_pause_ns; ++n) {
    pause *= 2;
  }
  return std::min(pause, setup.restart_pause_ns);
}

// Whether somebody had noticed an earlier fault of its life by then.
bool WasNoticedBefore(const Evidence& evidence, const Firing& firing) {
  return std::ranges::any_of(evidence.firings, [&](const Firing& before) {
    if (!MayLose(evidence, before) || !IsBefore(before, firing)) return false;
    const std::optional<Sign> noticed = NoticedAt(evidence, before);
    return noticed && noticed->t_ns <= firing.event().t_ns;
  });
}

void CheckNoticed(const Evidence& evidence, const Firing& firing,
                  Check& check) {
  const std::optional<Sign> noticed = NoticedAt(evidence, firing);
  const int64_t took = noticed ? noticed->t_ns - firing.event().t_ns
                               : OthersStayed(evidence, firing);
  int64_t bound = BoundOf(evidence, firing, firing.event().t_ns + took);
  if (bound <= 0) return;
  // Where nobody else is there, or all were killed without a word, the launcher
  // that noticed it pauses before that shows.
  if (noticed && noticed->of_restart) {
    bound += PauseAfter(*firing.life, evidence.record.setup);
  }
  const std::optional<int64_t> held_up =
      HeldUp(evidence, firing, firing.event().t_ns + took,
             !noticed || noticed->of_restart);
  if (!held_up || WasNoticedBefore(evidence, firing)) return;
  bound += *held_up;
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

// Whether the life got as far in its generation as another such fault: only
// from then on is it sure to be lost. One that stands still for good is at
// once, unless it is a save's task. What another task meets while one still
// stands is no sign.
bool MetAnother(const Evidence& evidence, const Firing& firing) {
  const bool may_end = Lasts(*firing.fault) || firing.traits.creeps ||
                       firing.traits.troubles_network;
  if (!may_end && !evidence.record.setup.saves_beside) return false;
  return std::ranges::any_of(evidence.firings, [&](const Firing& other) {
    return MayLose(evidence, other) && IsBefore(firing, other) &&
           (!Lasts(*firing.fault) || OverAt(firing) <= other.event().t_ns);
  });
}

}  // namespace

void CheckDetection(const Evidence& evidence, Check& check) {
  for (const Firing& firing : evidence.firings) {
    if (!MayLose(evidence, firing) || WentOn(evidence, firing) ||
        MetAnother(evidence, firing)) {
      continue;
    }
    CheckNoticed(evidence, firing, check);
  }
}

}  // namespace gauntlet
