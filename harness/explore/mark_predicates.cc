#include "harness/explore/mark_predicates.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/worker_exit_code.h"
#include "harness/explore/life_end.h"
#include "harness/oracle/fault_traits.h"
#include "harness/oracle/last_words.h"

namespace gauntlet {
namespace {

bool AnyFiring(const MarkScene& scene,
               bool (*holds)(const Firing& firing, FaultPhase phase)) {
  const std::vector<Firing>& firings = scene.outline.firings;
  for (size_t i = 0; i < firings.size(); ++i) {
    if (holds(firings[i], scene.phases[i])) return true;
  }
  return false;
}

bool AnyLife(const MarkScene& scene, bool (*holds)(const LifeEvents& life)) {
  return std::ranges::any_of(scene.outline.record.lives, holds);
}

bool DiedOfAPowerCut(const Firing& firing) {
  return firing.traits.cuts_power && DiedThere(firing);
}

bool GivesNotice(const Firing& firing) {
  return firing.traits.gives_notice && firing.fault->grace_ns > 0;
}

bool IsAt(const Firing& firing, Point point) {
  return firing.event().path == PointName(point);
}

bool DiedRetiring(const Firing& firing) {
  return std::ranges::any_of(AllPoints(), [&](const PointInfo& info) {
    return info.part == RunPart::kRetirement && DiedAt(firing, info.point);
  });
}

// Returns true iff the incarnation ended between the begin of a save and the
// report of its end.
bool LeftASaveUnsaid(const LifeEvents& life) {
  RecordKind last = RecordKind::kLifeBegin;
  for (const RecordEvent& event : life.events) {
    if (event.kind == RecordKind::kSaveBegin ||
        event.kind == RecordKind::kSaveAcknowledged ||
        event.kind == RecordKind::kSaveFailed) {
      last = event.kind;
    }
  }
  return last == RecordKind::kSaveBegin;
}

// Returns true iff `predicate` holds for a generation, given the moments of all
// saves acknowledged before it.
template <typename Predicate>
bool AnyGeneration(const MarkScene& scene, Predicate predicate) {
  std::set<Moment> acknowledged;
  for (const Generation& generation : scene.outline.generations) {
    if (predicate(generation, acknowledged)) return true;
    acknowledged.insert(generation.saves.begin(), generation.saves.end());
  }
  return false;
}

bool IsAnErrorOfALoad(const Firing& firing, FaultPhase phase) {
  return firing.fault->kind == "errno" && IsAt(firing, Point::kLoadRead) &&
         (phase == FaultPhase::kJoining || phase == FaultPhase::kRecovering);
}

}  // namespace

bool DiedWhileRecovering(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return DiedThere(firing) && phase == FaultPhase::kRecovering;
  });
}

bool DiedAfterTheRename(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    return (DiedAt(firing, Point::kRenamed) ||
            DiedAt(firing, Point::kParentSync)) &&
           LeftASaveUnsaid(*firing.life);
  });
}

bool DiedInAnEvaluation(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return DiedThere(firing) && phase == FaultPhase::kEvaluation;
  });
}

bool PowerCutInASave(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return DiedOfAPowerCut(firing) && phase == FaultPhase::kSaving;
  });
}

bool PowerCutWhileRecovering(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return DiedOfAPowerCut(firing) && phase == FaultPhase::kRecovering;
  });
}

bool PowerCutTwice(const MarkScene& scene) {
  return std::ranges::count_if(scene.outline.firings, DiedOfAPowerCut) >= 2;
}

bool FellBack(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return HasThen(life, RecordKind::kRejected, RecordKind::kResumed);
  });
}

bool Refused(const MarkScene& scene) {
  const std::vector<LauncherRun>& launchers = scene.outline.record.launchers;
  return !launchers.empty() &&
         IsExit(launchers.back().exit_code, {WorkerExit::kNoCheckpoint});
}

bool ClaimedWithoutAStep(const MarkScene& scene) {
  const auto& generations = scene.outline.generations;
  for (const Generation& generation : generations) {
    const bool is_last = &generation == &generations.back();
    if (!is_last && generation.last_step == 0 && generation.resumed) {
      return true;
    }
  }
  return false;
}

bool ResumedFromTheSameTwice(const MarkScene& scene) {
  const Generation* before = nullptr;
  for (const Generation& generation : scene.outline.generations) {
    if (before != nullptr && before->resumed &&
        before->resumed == generation.resumed) {
      return true;
    }
    before = &generation;
  }
  return false;
}

bool BeganAgainFromNothing(const MarkScene& scene) {
  bool first = true;
  for (const Generation& generation : scene.outline.generations) {
    if (!first && generation.cold_start) return true;
    if (!generation.saves.empty()) return false;
    first = false;
  }
  return false;
}

bool AdoptedAnUnacknowledgedSave(const MarkScene& scene) {
  return AnyGeneration(scene, [](const Generation& generation,
                                 const std::set<Moment>& acknowledged) {
    return generation.resumed && !acknowledged.contains(*generation.resumed);
  });
}

bool SavedAMomentAgain(const MarkScene& scene) {
  return AnyGeneration(scene, [](const Generation& generation,
                                 const std::set<Moment>& acknowledged) {
    return std::ranges::any_of(generation.saves, [&](const Moment& save) {
      return acknowledged.contains(save);
    });
  });
}

bool SaveFailedAndTheNextSucceeded(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return HasThen(life, RecordKind::kSaveFailed,
                   RecordKind::kSaveAcknowledged);
  });
}

bool FaultInTheThirdLife(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    return firing.life->life >= 3;
  });
}

bool ChiefAndAnotherDied(const MarkScene& scene) {
  std::map<int, std::set<int>> dead;  // by life
  for (const Firing& firing : scene.outline.firings) {
    if (DiedThere(firing)) {
      dead[firing.life->life].insert(firing.life->worker);
    }
  }
  return std::ranges::any_of(dead, [](const auto& one) {
    return one.second.size() > 1 && one.second.contains(0);
  });
}

bool NoticeInAnEvaluation(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return GivesNotice(firing) && phase == FaultPhase::kEvaluation;
  });
}

bool NoticeInASave(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return GivesNotice(firing) && phase == FaultPhase::kSaving;
  });
}

bool NoticeWhileRecovering(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return GivesNotice(firing) && phase == FaultPhase::kRecovering;
  });
}

bool StoppedAndWentOn(const MarkScene& scene) {
  const std::vector<LauncherRun>& launchers = scene.outline.record.launchers;
  return scene.outline.IsDone() &&
         std::any_of(launchers.begin(), launchers.end() - 1,
                     [](const LauncherRun& run) {
                       return IsExit(run.exit_code, {WorkerExit::kStopped});
                     });
}

bool FinishedInSpiteOfANotice(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return HasThen(life, RecordKind::kNotice, RecordKind::kFinished);
  });
}

bool GraceTooShort(const MarkScene& scene) {
  return std::ranges::any_of(scene.outline.firings, [&](const Firing& firing) {
    return GraceRanOut(scene.outline, firing);
  });
}

// It had created its claim, and had not yet taken a checkpoint with it.
bool TwoClaimsRaced(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return Has(life, RecordKind::kFencedOut) &&
           !Has(life, RecordKind::kGeneration);
  });
}

bool SurvivorWasFenced(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return HasThen(life, RecordKind::kSaveBegin, RecordKind::kFencedOut);
  });
}

bool LateCommitWasVoid(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return Has(life, RecordKind::kFencedFound);
  });
}

bool RetentionInterrupted(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return DiedRetiring(firing) && phase != FaultPhase::kFinishing;
  });
}

bool DeletionAtTheEndInterrupted(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return phase == FaultPhase::kFinishing &&
           (DiedRetiring(firing) || DiedAt(firing, Point::kBackupDelete));
  });
}

bool PauseSleptOff(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    // A heartbeat that hangs holds nobody up.
    const bool pauses =
        firing.fault->kind == "pause" ||
        (firing.fault->kind == "hang" && !IsAt(firing, Point::kHeartbeat));
    return pauses && HasAfter(firing, RecordKind::kFinished);
  });
}

bool HangNoticed(const MarkScene& scene) {
  return std::ranges::any_of(scene.outline.firings, [&](const Firing& firing) {
    return firing.fault->kind == "hang" && WasGivenUp(scene.outline, firing);
  });
}

bool LoadErrorGotOver(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return IsAnErrorOfALoad(firing, phase) &&
           HasAfter(firing, RecordKind::kResumed);
  });
}

bool LoadErrorEndedTheLife(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return IsAnErrorOfALoad(firing, phase) && LeftInFailure(firing) &&
           !HasAfter(firing, RecordKind::kResumed);
  });
}

bool DamagedWhileBeingLoaded(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    const FaultTraits& traits = firing.traits;
    return traits.damages_store && !traits.cuts_power &&
           firing.event().path.starts_with("ckpt.load");
  });
}

bool ThreeFaultsFired(const MarkScene& scene) {
  std::set<const RecordFault*> fired;
  for (const Firing& firing : scene.outline.firings) {
    fired.insert(firing.fault);
  }
  return fired.size() >= 3;
}

bool FreedRoomForASave(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return std::adjacent_find(
               life.events.begin(), life.events.end(),
               [](const RecordEvent& one, const RecordEvent& next) {
                 return one.kind == RecordKind::kSaveFailed &&
                        next.kind == RecordKind::kRetired;
               }) != life.events.end();
  });
}

bool GaveUpTheLastSave(const MarkScene& scene) {
  return AnyLife(scene, LeftUnsaved);
}

}  // namespace gauntlet
