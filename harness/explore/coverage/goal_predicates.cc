#include "harness/explore/coverage/goal_predicates.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/worker_exit_code.h"
#include "harness/explore/coverage/incarnation_end.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/fault_traits.h"

namespace gauntlet {
namespace {

bool AnyOccurrence(const GoalScene& scene,
                   bool (*holds)(const FaultOccurrence& occurrence,
                                 FaultPhase phase)) {
  const std::vector<FaultOccurrence>& occurrences = scene.outline.occurrences;
  for (size_t i = 0; i < occurrences.size(); ++i) {
    if (holds(occurrences[i], scene.phases[i])) return true;
  }
  return false;
}

bool DiedOfAPowerCut(const FaultOccurrence& occurrence) {
  return occurrence.traits.cuts_power && DiedThere(occurrence);
}

bool IsAt(const FaultOccurrence& occurrence, Point point) {
  return occurrence.event().path == PointName(point);
}

bool DiedRetiring(const FaultOccurrence& occurrence) {
  return std::ranges::any_of(AllPoints(), [&](const PointInfo& info) {
    return info.part == RunPart::kRetirement && DiedAt(occurrence, info.point);
  });
}

// Returns true iff the incarnation ended between the start and the end of a
// save.
bool EndedDuringASave(const IncarnationEvents& incarnation) {
  RecordKind last = RecordKind::kWorkerStarted;
  for (const RecordEvent& event : incarnation.events) {
    if (event.kind == RecordKind::kSaveBegin ||
        event.kind == RecordKind::kSaveAcknowledged ||
        event.kind == RecordKind::kSaveFailed) {
      last = event.kind;
    }
  }
  return last == RecordKind::kSaveBegin;
}

// Returns true iff `predicate` is true for at least one generation. Its second
// argument has the positions of all saves that earlier generations
// acknowledged.
template <typename Predicate>
bool AnyGenerationAfterSaves(const GoalScene& scene, Predicate predicate) {
  std::set<TrainingPosition> acknowledged;
  for (const Generation& generation : scene.outline.generations) {
    if (predicate(generation, acknowledged)) return true;
    acknowledged.insert(generation.saves.begin(), generation.saves.end());
  }
  return false;
}

bool IsAnErrorOfALoad(const FaultOccurrence& occurrence, FaultPhase phase) {
  return occurrence.fault->kind == "errno" &&
         IsAt(occurrence, Point::kLoadRead) &&
         (phase == FaultPhase::kJoining || phase == FaultPhase::kRecovering);
}

}  // namespace

bool DiedWhileRecovering(const GoalScene& scene) {
  return AnyOccurrence(
      scene, [](const FaultOccurrence& occurrence, FaultPhase phase) {
        return DiedThere(occurrence) && phase == FaultPhase::kRecovering;
      });
}

bool DiedAfterTheRename(const GoalScene& scene) {
  return AnyOccurrence(scene,
                       [](const FaultOccurrence& occurrence, FaultPhase) {
                         return (DiedAt(occurrence, Point::kRenamed) ||
                                 DiedAt(occurrence, Point::kParentSync)) &&
                                EndedDuringASave(*occurrence.incarnation);
                       });
}

bool DiedInAnEvaluation(const GoalScene& scene) {
  return AnyOccurrence(
      scene, [](const FaultOccurrence& occurrence, FaultPhase phase) {
        return DiedThere(occurrence) && phase == FaultPhase::kEvaluation;
      });
}

bool PowerCutInASave(const GoalScene& scene) {
  return AnyOccurrence(
      scene, [](const FaultOccurrence& occurrence, FaultPhase phase) {
        return DiedOfAPowerCut(occurrence) && phase == FaultPhase::kSaving;
      });
}

bool PowerCutWhileRecovering(const GoalScene& scene) {
  return AnyOccurrence(
      scene, [](const FaultOccurrence& occurrence, FaultPhase phase) {
        return DiedOfAPowerCut(occurrence) && phase == FaultPhase::kRecovering;
      });
}

bool PowerCutTwice(const GoalScene& scene) {
  return std::ranges::count_if(scene.outline.occurrences, DiedOfAPowerCut) >= 2;
}

bool FellBack(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    return HasThen(incarnation, RecordKind::kRejected, RecordKind::kResumed);
  });
}

bool Refused(const GoalScene& scene) {
  const std::vector<LauncherRun>& launchers = scene.outline.record.launchers;
  return !launchers.empty() &&
         IsExit(launchers.back().exit_code, {WorkerExit::kNoCheckpoint});
}

bool ClaimedWithoutAStep(const GoalScene& scene) {
  const auto& generations = scene.outline.generations;
  for (const Generation& generation : generations) {
    const bool is_last = &generation == &generations.back();
    if (!is_last && generation.last_step == 0 && generation.resumed) {
      return true;
    }
  }
  return false;
}

bool ResumedFromTheSameTwice(const GoalScene& scene) {
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

bool BeganAgainFromNothing(const GoalScene& scene) {
  bool first = true;
  for (const Generation& generation : scene.outline.generations) {
    if (!first && generation.cold_start) return true;
    if (!generation.saves.empty()) return false;
    first = false;
  }
  return false;
}

bool AdoptedAnUnacknowledgedSave(const GoalScene& scene) {
  return AnyGenerationAfterSaves(
      scene, [](const Generation& generation,
                const std::set<TrainingPosition>& acknowledged) {
        return generation.resumed &&
               !acknowledged.contains(*generation.resumed);
      });
}

bool SavedAPositionAgain(const GoalScene& scene) {
  return AnyGenerationAfterSaves(
      scene, [](const Generation& generation,
                const std::set<TrainingPosition>& acknowledged) {
        return std::ranges::any_of(generation.saves,
                                   [&](const TrainingPosition& save) {
                                     return acknowledged.contains(save);
                                   });
      });
}

bool SaveFailedAndTheNextSucceeded(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    return HasThen(incarnation, RecordKind::kSaveFailed,
                   RecordKind::kSaveAcknowledged);
  });
}

bool FaultInTheThirdIncarnation(const GoalScene& scene) {
  return AnyOccurrence(scene,
                       [](const FaultOccurrence& occurrence, FaultPhase) {
                         return occurrence.incarnation->number >= 3;
                       });
}

bool ChiefAndAnotherDied(const GoalScene& scene) {
  std::map<int, std::set<int>> dead;  // by incarnation
  for (const FaultOccurrence& occurrence : scene.outline.occurrences) {
    if (DiedThere(occurrence)) {
      dead[occurrence.incarnation->number].insert(
          occurrence.incarnation->worker);
    }
  }
  return std::ranges::any_of(dead, [](const auto& one) {
    return one.second.size() > 1 && one.second.contains(0);
  });
}

bool NoticeInAnEvaluation(const GoalScene& scene) {
  return AnyOccurrence(scene, [](const FaultOccurrence& occurrence,
                                 FaultPhase phase) {
    return GivesNotice(*occurrence.fault) && phase == FaultPhase::kEvaluation;
  });
}

bool NoticeInASave(const GoalScene& scene) {
  return AnyOccurrence(
      scene, [](const FaultOccurrence& occurrence, FaultPhase phase) {
        return GivesNotice(*occurrence.fault) && phase == FaultPhase::kSaving;
      });
}

bool NoticeWhileRecovering(const GoalScene& scene) {
  return AnyOccurrence(scene, [](const FaultOccurrence& occurrence,
                                 FaultPhase phase) {
    return GivesNotice(*occurrence.fault) && phase == FaultPhase::kRecovering;
  });
}

bool StoppedAndWentOn(const GoalScene& scene) {
  const std::vector<LauncherRun>& launchers = scene.outline.record.launchers;
  return scene.outline.IsDone() &&
         std::any_of(launchers.begin(), launchers.end() - 1,
                     [](const LauncherRun& run) {
                       return IsExit(run.exit_code, {WorkerExit::kStopped});
                     });
}

bool FinishedInSpiteOfANotice(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    return HasThen(incarnation, RecordKind::kNotice, RecordKind::kFinished);
  });
}

bool GraceTooShort(const GoalScene& scene) {
  return std::ranges::any_of(scene.outline.occurrences,
                             [&](const FaultOccurrence& occurrence) {
                               return GraceRanOut(scene.outline, occurrence);
                             });
}

// Returns true iff a worker was fenced after it created its claim and before it
// formed a generation.
bool TwoClaimsRaced(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    return Has(incarnation, RecordKind::kFencedOut) &&
           !Has(incarnation, RecordKind::kGeneration);
  });
}

bool StaleWorkerWasFenced(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    return HasThen(incarnation, RecordKind::kSaveBegin, RecordKind::kFencedOut);
  });
}

bool LateCommitWasFenced(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    return Has(incarnation, RecordKind::kFencedFound);
  });
}

bool RetentionInterrupted(const GoalScene& scene) {
  return AnyOccurrence(
      scene, [](const FaultOccurrence& occurrence, FaultPhase phase) {
        return DiedRetiring(occurrence) && phase != FaultPhase::kFinishing;
      });
}

bool DeletionAtTheEndInterrupted(const GoalScene& scene) {
  return AnyOccurrence(scene,
                       [](const FaultOccurrence& occurrence, FaultPhase phase) {
                         return phase == FaultPhase::kFinishing &&
                                (DiedRetiring(occurrence) ||
                                 DiedAt(occurrence, Point::kBackupDelete));
                       });
}

bool PauseSleptOff(const GoalScene& scene) {
  return AnyOccurrence(
      scene, [](const FaultOccurrence& occurrence, FaultPhase) {
        // A hang at a heartbeat does not delay the worker.
        const FaultTraits& traits = occurrence.traits;
        const bool delays_worker =
            traits.BlocksTask() && (traits.hinders == HinderedPart::kProcess ||
                                    !IsAt(occurrence, Point::kHeartbeat));
        return delays_worker && HasAfter(occurrence, RecordKind::kFinished);
      });
}

bool HangNoticed(const GoalScene& scene) {
  return std::ranges::any_of(scene.outline.occurrences,
                             [&](const FaultOccurrence& occurrence) {
                               return occurrence.fault->kind == "hang" &&
                                      WasGivenUp(scene.outline, occurrence);
                             });
}

bool LoadErrorGotOver(const GoalScene& scene) {
  return AnyOccurrence(scene,
                       [](const FaultOccurrence& occurrence, FaultPhase phase) {
                         return IsAnErrorOfALoad(occurrence, phase) &&
                                HasAfter(occurrence, RecordKind::kResumed);
                       });
}

bool LoadErrorEndedTheIncarnation(const GoalScene& scene) {
  return AnyOccurrence(scene, [](const FaultOccurrence& occurrence,
                                 FaultPhase phase) {
    return IsAnErrorOfALoad(occurrence, phase) && LeftInFailure(occurrence) &&
           !HasAfter(occurrence, RecordKind::kResumed);
  });
}

bool DamagedWhileBeingLoaded(const GoalScene& scene) {
  return AnyOccurrence(
      scene, [](const FaultOccurrence& occurrence, FaultPhase) {
        const FaultTraits& traits = occurrence.traits;
        return traits.damages_store && !traits.cuts_power &&
               occurrence.event().path.starts_with("ckpt.load");
      });
}

bool ThreeFaultsFired(const GoalScene& scene) {
  std::set<const RecordFault*> fired;
  for (const FaultOccurrence& occurrence : scene.outline.occurrences) {
    fired.insert(occurrence.fault);
  }
  return fired.size() >= 3;
}

bool FreedRoomForASave(const GoalScene& scene) {
  return AnyIncarnation(scene, [](const IncarnationEvents& incarnation) {
    return std::adjacent_find(
               incarnation.events.begin(), incarnation.events.end(),
               [](const RecordEvent& one, const RecordEvent& next) {
                 return one.kind == RecordKind::kSaveFailed &&
                        next.kind == RecordKind::kRetired;
               }) != incarnation.events.end();
  });
}

bool GaveUpTheLastSave(const GoalScene& scene) {
  return AnyIncarnation(scene, LeftUnsaved);
}

}  // namespace gauntlet
