#include "harness/explore/marks.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

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

bool Has(const LifeEvents& life, RecordKind kind) {
  return std::ranges::any_of(life.events, [kind](const RecordEvent& event) {
    return event.kind == kind;
  });
}

// An event of the second kind, some time after one of the first.
bool HasThen(const LifeEvents& life, RecordKind first, RecordKind second) {
  bool seen = false;
  for (const RecordEvent& event : life.events) {
    if (seen && event.kind == second) return true;
    seen = seen || event.kind == first;
  }
  return false;
}

bool Kills(const Firing& firing) { return TraitsOf(*firing.fault).ends_life; }

bool CutsPower(const Firing& firing) {
  return firing.fault->kind == "power_loss" ||
         firing.fault->then == "power_loss";
}

bool IsAt(const Firing& firing, Point point) {
  return firing.event().path == PointName(point);
}

bool IsRetiring(const Firing& firing) {
  return IsAt(firing, Point::kRetireRename) ||
         IsAt(firing, Point::kRetireRemove);
}

bool DiedWhileRecovering(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return Kills(firing) && phase == FaultPhase::kRecovering;
  });
}

bool DiedAfterTheRename(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    return Kills(firing) &&
           (IsAt(firing, Point::kRenamed) || IsAt(firing, Point::kParentSync));
  });
}

bool DiedInAnEvaluation(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return Kills(firing) && phase == FaultPhase::kEvaluation;
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
  for (const auto& [number, generation] : generations) {
    const bool is_last = number == generations.rbegin()->first;
    if (!is_last && generation.last_step == 0 && generation.resumed_step) {
      return true;
    }
  }
  return false;
}

bool ResumedFromTheSameTwice(const MarkScene& scene) {
  const Generation* before = nullptr;
  for (const auto& [number, generation] : scene.evidence.generations) {
    if (before != nullptr && before->resumed_step && generation.resumed_step &&
        *before->resumed_step == *generation.resumed_step) {
      return true;
    }
    before = &generation;
  }
  return false;
}

bool BeganAgainFromNothing(const MarkScene& scene) {
  const auto& generations = scene.evidence.generations;
  return std::any_of(
      generations.begin(), generations.end(), [&](const auto& one) {
        return one.second.cold_start && one.first != generations.begin()->first;
      });
}

bool AdoptedAnUnacknowledgedSave(const MarkScene& scene) {
  std::set<uint64_t> acknowledged;
  for (const auto& [number, generation] : scene.evidence.generations) {
    if (generation.resumed_step &&
        !acknowledged.contains(*generation.resumed_step)) {
      return true;
    }
    for (const Acknowledged& save : generation.saves) {
      acknowledged.insert(save.step);
    }
  }
  return false;
}

bool SavedAStepAgain(const MarkScene& scene) {
  std::set<uint64_t> acknowledged;
  for (const auto& [number, generation] : scene.evidence.generations) {
    for (const Acknowledged& save : generation.saves) {
      if (acknowledged.contains(save.step)) return true;
    }
    for (const Acknowledged& save : generation.saves) {
      acknowledged.insert(save.step);
    }
  }
  return false;
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
    if (Kills(firing)) dead[firing.life->life].insert(firing.life->worker);
  }
  return std::ranges::any_of(dead, [](const auto& one) {
    return one.second.size() > 1 && one.second.contains(0);
  });
}

bool NoticeInAnEvaluation(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return TraitsOf(*firing.fault).gives_notice &&
           phase == FaultPhase::kEvaluation;
  });
}

bool NoticeInASave(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return TraitsOf(*firing.fault).gives_notice && phase == FaultPhase::kSaving;
  });
}

bool NoticeWhileRecovering(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return TraitsOf(*firing.fault).gives_notice &&
           phase == FaultPhase::kRecovering;
  });
}

bool StoppedAndWentOn(const MarkScene& scene) {
  const std::vector<LauncherRun>& launchers = scene.evidence.record.launchers;
  return launchers.size() > 1 && launchers.front().exit_code == kStopped &&
         scene.evidence.Done();
}

bool FinishedInSpiteOfANotice(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return HasThen(life, RecordKind::kNotice, RecordKind::kFinished);
  });
}

bool GraceTooShort(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    return TraitsOf(*firing.fault).gives_notice &&
           !Has(*firing.life, RecordKind::kLifeEnd);
  });
}

bool CommitWasFenced(const MarkScene& scene) {
  return AnyLife(scene, [](const LifeEvents& life) {
    return Has(life, RecordKind::kFencedOut) ||
           Has(life, RecordKind::kFencedFound);
  });
}

bool RetentionInterrupted(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return Kills(firing) && IsRetiring(firing) &&
           phase != FaultPhase::kFinishing;
  });
}

bool DeletionAtTheEndInterrupted(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase phase) {
    return Kills(firing) && phase == FaultPhase::kFinishing &&
           (IsRetiring(firing) || IsAt(firing, Point::kBackupDelete));
  });
}

bool PauseSleptOff(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    const bool pauses =
        firing.fault->kind == "hang" || firing.fault->kind == "stop";
    return pauses && Has(*firing.life, RecordKind::kFinished);
  });
}

bool HangNoticed(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    return firing.fault->kind == "hang" &&
           !Has(*firing.life, RecordKind::kLifeEnd);
  });
}

bool LoadErrorGotOver(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    return firing.fault->kind == "errno" && IsAt(firing, Point::kLoadRead) &&
           Has(*firing.life, RecordKind::kResumed);
  });
}

bool LoadErrorEndedTheLife(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    return firing.fault->kind == "errno" && IsAt(firing, Point::kLoadRead) &&
           !Has(*firing.life, RecordKind::kResumed);
  });
}

bool DamagedWhileBeingLoaded(const MarkScene& scene) {
  return AnyFiring(scene, [](const Firing& firing, FaultPhase) {
    return TraitsOf(*firing.fault).damages_store &&
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
             "a later generation saved a step that an earlier one had saved",
             kUsual, SavedAStepAgain},
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
    MarkInfo{"commit-fenced",
             "a worker learned that it is of an old generation, or what it "
             "wrote was found void",
             kRare, CommitWasFenced},
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
    scene.phases.push_back(PhaseOf(evidence.record, firing));
  }
  MarkSet marks;
  for (size_t i = 0; i < kTable.size(); ++i) marks[i] = kTable[i].holds(scene);
  return marks;
}

}  // namespace gauntlet
