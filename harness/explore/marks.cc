#include "harness/explore/marks.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/explore/life_end.h"
#include "harness/oracle/fault_traits.h"

namespace gauntlet {
namespace {

constexpr int kNoCheckpoint = 7;
constexpr int kStopped = 143;

bool AnyFiring(const MarkScene& scene,
               bool (*holds)(const Firing& firing, FaultPhase phase)) {
  const std::vector<Firing>& firings = scene.evidence.firings;
  for (size_t i = 0; i < firings.size(); ++i) {
    if (holds(firings[i], scene.phases[i])) return true;
  }
  return false;
}

bool AnyLife(const MarkScene& scene, bool (*holds)(const LifeEvents& life)) {
  return std::ranges::any_of(scene.evidence.record.lives, holds);
}

bool CutsPower(const Firing& firing) {
  return TraitsOf(*firing.fault).cuts_power && DiedThere(firing);
}

bool GivesNotice(const Firing& firing) {
  return TraitsOf(*firing.fault).gives_notice && firing.fault->grace_ns > 0;
}

bool IsAt(const Firing& firing, Point point) {
  return firing.event().path == PointName(point);
}

bool DiedRetiring(const Firing& firing) {
  return DiedAt(firing, Point::kRetireRename) ||
         DiedAt(firing, Point::kRetireRemove);
}

// Whether it died between a save's beginning and any word of its end.
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
    return CutsPower(firing) && phase == FaultPhase::kSaving;
  });
}

bool PowerCutWhileRecovering(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return CutsPower(firing) && phase == FaultPhase::kRecovering;
  });
}

bool PowerCutTwice(const MarkScene& scene) {
  return std::ranges::count_if(scene.evidence.firings, CutsPower) >= 2;
}

bool FellBack(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return HasThen(life, RecordKind::kRejected, RecordKind::kResumed);
  });
}

bool Refused(const MarkScene& scene) {
  const std::vector<LauncherRun>& launchers = scene.evidence.record.launchers;
  return !launchers.empty() && launchers.back().exit_code == kNoCheckpoint;
}

bool ClaimedWithoutAStep(const MarkScene& scene) {
  const auto& generations = scene.evidence.generations;
  for (const auto& [id, generation] : generations) {
    const bool is_last = id == generations.rbegin()->first;
    if (!is_last && generation.last_step == 0 && generation.resumed) {
      return true;
    }
  }
  return false;
}

bool ResumedFromTheSameTwice(const MarkScene& scene) {
  const Generation* before = nullptr;
  for (const auto& [id, generation] : scene.evidence.generations) {
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
  for (const auto& [id, generation] : scene.evidence.generations) {
    if (!first && generation.cold_start) return true;
    if (!generation.saves.empty()) return false;
    first = false;
  }
  return false;
}

// Whether a generation has something to do with a moment that was acknowledged
// before it, or that was not.
template <typename Predicate>
bool AnyGeneration(const MarkScene& scene, Predicate predicate) {
  std::set<Moment> acknowledged;
  for (const auto& [id, generation] : scene.evidence.generations) {
    if (predicate(generation, acknowledged)) return true;
    for (const Acknowledged& save : generation.saves) {
      acknowledged.insert(save.moment);
    }
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
    return std::ranges::any_of(generation.saves, [&](const Acknowledged& save) {
      return acknowledged.contains(save.moment);
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
  for (const Firing& firing : scene.evidence.firings) {
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
  const std::vector<LauncherRun>& launchers = scene.evidence.record.launchers;
  return scene.evidence.Done() &&
         std::any_of(
             launchers.begin(), launchers.end() - 1,
             [](const LauncherRun& run) { return run.exit_code == kStopped; });
}

bool FinishedInSpiteOfANotice(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return HasThen(life, RecordKind::kNotice, RecordKind::kFinished);
  });
}

bool GraceTooShort(const MarkScene& scene) {
  return std::ranges::any_of(scene.evidence.firings, [&](const Firing& firing) {
    return GraceRanOut(scene.evidence, firing);
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
        firing.fault->kind == "stop" ||
        (firing.fault->kind == "hang" && !IsAt(firing, Point::kHeartbeat));
    return pauses && HasAfter(firing, RecordKind::kFinished);
  });
}

bool HangNoticed(const MarkScene& scene) {
  return std::ranges::any_of(scene.evidence.firings, [&](const Firing& firing) {
    return firing.fault->kind == "hang" && WasGivenUp(scene.evidence, firing);
  });
}

bool IsAnErrorOfALoad(const Firing& firing, FaultPhase phase) {
  return firing.fault->kind == "errno" && IsAt(firing, Point::kLoadRead) &&
         (phase == FaultPhase::kJoining || phase == FaultPhase::kRecovering);
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
    const FaultTraits traits = TraitsOf(*firing.fault);
    return traits.damages_store && !traits.cuts_power &&
           firing.event().path.starts_with("ckpt.load");
  });
}

bool ThreeFaultsFired(const MarkScene& scene) {
  std::set<const RecordFault*> fired;
  for (const Firing& firing : scene.evidence.firings) {
    fired.insert(firing.fault);
  }
  return fired.size() >= 3;
}

constexpr MarkRarity kUsual = MarkRarity::kUsual;
constexpr MarkRarity kRare = MarkRarity::kRare;

constexpr std::array kTable = {
    MarkInfo{"died-while-recovering",
             "a worker died in a later life before it had a state", kUsual,
             DiedWhileRecovering},
    MarkInfo{"died-after-the-rename",
             "a death between a save's rename and its acknowledgement", kUsual,
             DiedAfterTheRename},
    MarkInfo{"died-in-an-evaluation", "a death while an evaluation was due",
             kUsual, DiedInAnEvaluation},
    MarkInfo{"power-cut-in-a-save", "the power went during a save", kUsual,
             PowerCutInASave},
    MarkInfo{"power-cut-while-recovering",
             "the power went before a later life had a state", kUsual,
             PowerCutWhileRecovering},
    MarkInfo{"power-cut-twice", "the power went twice in one run", kUsual,
             PowerCutTwice},
    MarkInfo{"fell-back",
             "a load set a damaged checkpoint aside and took another", kUsual,
             FellBack},
    MarkInfo{"refused", "no copy was left, and the run refused to go on",
             kUsual, Refused},
    MarkInfo{"claimed-without-a-step",
             "a generation resumed and ended without a step, and another came",
             kUsual, ClaimedWithoutAStep},
    MarkInfo{"resumed-from-the-same-twice",
             "two generations in a row went on from one checkpoint", kUsual,
             ResumedFromTheSameTwice},
    MarkInfo{"began-again-from-nothing",
             "a later generation started afresh: nothing was saved yet", kUsual,
             BeganAgainFromNothing},
    MarkInfo{"adopted-an-unacknowledged-save",
             "a restart went on from a save that nobody had been told of",
             kUsual, AdoptedAnUnacknowledgedSave},
    MarkInfo{"saved-a-step-again",
             "a later generation saved what an earlier one had saved", kUsual,
             SavedAMomentAgain},
    MarkInfo{"save-failed-and-the-next-succeeded",
             "a save failed, and a later one of the same life was acknowledged",
             kUsual, SaveFailedAndTheNextSucceeded},
    MarkInfo{"fault-in-the-third-life",
             "a fault fired in a third life or later", kUsual,
             FaultInTheThirdLife},
    MarkInfo{
        "chief-and-another-died",
        "the chief and another worker died of faults in one life of the job",
        kUsual, ChiefAndAnotherDied},
    MarkInfo{"notice-in-an-evaluation",
             "a termination notice while an evaluation was due", kUsual,
             NoticeInAnEvaluation},
    MarkInfo{"notice-in-a-save", "a termination notice during a save", kUsual,
             NoticeInASave},
    MarkInfo{"notice-while-recovering",
             "a termination notice before a later life had a state", kUsual,
             NoticeWhileRecovering},
    MarkInfo{"stopped-and-went-on",
             "a job stopped on a notice, was started again and finished",
             kUsual, StoppedAndWentOn},
    MarkInfo{"finished-in-spite-of-a-notice",
             "a notice came so late that the run finished", kUsual,
             FinishedInSpiteOfANotice},
    MarkInfo{"grace-too-short", "a worker was killed before it had left",
             kUsual, GraceTooShort},
    MarkInfo{"two-claims-raced",
             "a worker learned while it claimed that another had claimed since",
             kUsual, TwoClaimsRaced},
    MarkInfo{"survivor-fenced",
             "a late survivor learned in a save that it is of an old "
             "generation",
             kUsual, SurvivorWasFenced},
    MarkInfo{"late-commit-void",
             "what a late survivor had committed was found, and not read",
             kUsual, LateCommitWasVoid},
    MarkInfo{"retention-interrupted",
             "a death while an old checkpoint was being removed", kUsual,
             RetentionInterrupted},
    MarkInfo{"deletion-at-the-end-interrupted",
             "a death while a finished run's backup was being deleted", kUsual,
             DeletionAtTheEndInterrupted},
    MarkInfo{"pause-slept-off",
             "a worker stood still for a while, and finished in that life",
             kUsual, PauseSleptOff},
    MarkInfo{"hang-noticed", "a task hung, and the worker was killed for it",
             kUsual, HangNoticed},
    MarkInfo{"load-error-got-over",
             "a read failed in a load, and the same life resumed", kUsual,
             LoadErrorGotOver},
    MarkInfo{"load-error-ended-the-life",
             "a read failed in a load, and that life did not resume", kUsual,
             LoadErrorEndedTheLife},
    MarkInfo{"damaged-while-being-loaded",
             "a file was damaged after its load had begun", kUsual,
             DamagedWhileBeingLoaded},
    MarkInfo{"three-faults", "three faults fired in one run", kUsual,
             ThreeFaultsFired},
};
static_assert(kTable.size() <= kMaxMarks);

}  // namespace

std::span<const MarkInfo> AllMarks() { return kTable; }

MarkSet MarksOf(const Evidence& evidence) {
  MarkScene scene = {.evidence = evidence, .phases = {}};
  for (const Firing& firing : evidence.firings) {
    scene.phases.push_back(PhaseOf(evidence, firing));
  }
  MarkSet marks;
  for (size_t i = 0; i < kTable.size(); ++i) marks[i] = kTable[i].holds(scene);
  return marks;
}

}  // namespace gauntlet
