#include "harness/explore/coverage/goals.h"

#include <array>

#include "harness/explore/coverage/goal_predicates.h"
#include "harness/explore/coverage/rejoin_goals.h"

namespace gauntlet {
namespace {

constexpr GoalRarity kUsual = GoalRarity::kUsual;
constexpr GoalRarity kRare = GoalRarity::kRare;

constexpr std::array kTable = {
    GoalInfo{"died-while-recovering",
             "a worker died in a later incarnation before it had a state",
             kUsual, DiedWhileRecovering},
    GoalInfo{"died-after-the-rename",
             "a death between a save's rename and its acknowledgement", kUsual,
             DiedAfterTheRename},
    GoalInfo{"died-in-an-evaluation", "a death while an evaluation was due",
             kUsual, DiedInAnEvaluation},
    GoalInfo{"power-cut-in-a-save", "power was lost during a save", kUsual,
             PowerCutInASave},
    GoalInfo{"power-cut-while-recovering",
             "power was lost before a later incarnation had a state", kUsual,
             PowerCutWhileRecovering},
    GoalInfo{"power-cut-twice", "power was lost twice in one run", kUsual,
             PowerCutTwice},
    GoalInfo{"resumed-from-older-checkpoint",
             "a load rejected a damaged checkpoint and took another", kUsual,
             FellBack},
    GoalInfo{"refused",
             "no valid checkpoint was left, and the run refused to train",
             kUsual, Refused},
    GoalInfo{
        "claimed-without-a-step",
        "a generation resumed and ended without a step, and another followed",
        kUsual, ClaimedWithoutAStep},
    GoalInfo{"resumed-from-the-same-twice",
             "two generations in a row resumed from one checkpoint", kUsual,
             ResumedFromTheSameTwice},
    GoalInfo{"began-again-from-nothing",
             "a later generation made a cold start: nothing had been saved",
             kUsual, BeganAgainFromNothing},
    GoalInfo{"adopted-an-unacknowledged-save",
             "a restart resumed from a save that was not acknowledged", kUsual,
             AdoptedAnUnacknowledgedSave},
    GoalInfo{"saved-a-step-again",
             "a later generation saved what an earlier one had saved", kUsual,
             SavedAPositionAgain},
    GoalInfo{"save-failed-and-the-next-succeeded",
             "a save failed, and a later one of the same incarnation was "
             "acknowledged",
             kUsual, SaveFailedAndTheNextSucceeded},
    GoalInfo{"fault-in-the-third-incarnation",
             "a fault fired in a third incarnation or later", kUsual,
             FaultInTheThirdIncarnation},
    GoalInfo{"chief-and-another-died",
             "the chief and another worker died of faults in one incarnation "
             "of the job",
             kUsual, ChiefAndAnotherDied},
    GoalInfo{"notice-in-an-evaluation",
             "a preemption notice while an evaluation was due", kUsual,
             NoticeInAnEvaluation},
    GoalInfo{"notice-in-a-save", "a preemption notice during a save", kUsual,
             NoticeInASave},
    GoalInfo{"notice-while-recovering",
             "a preemption notice before a later incarnation had a state",
             kUsual, NoticeWhileRecovering},
    GoalInfo{"stopped-and-resumed",
             "a job stopped on a notice, was started again and finished",
             kUsual, StoppedAndWentOn},
    GoalInfo{"finished-despite-notice",
             "a notice came so late that the run finished", kUsual,
             FinishedInSpiteOfANotice},
    GoalInfo{"grace-too-short", "a worker was killed before it had left",
             kUsual, GraceTooShort},
    GoalInfo{"two-claims-raced",
             "a worker was superseded while it claimed a generation", kUsual,
             TwoClaimsRaced},
    GoalInfo{"stale-worker-fenced",
             "a stale worker was superseded during a save", kUsual,
             StaleWorkerWasFenced},
    GoalInfo{
        "late-commit-void",
        "a checkpoint that a stale worker committed was found, and not read",
        kUsual, LateCommitWasFenced},
    GoalInfo{"retention-interrupted",
             "a death while an old checkpoint was being removed", kUsual,
             RetentionInterrupted},
    GoalInfo{"deletion-at-the-end-interrupted",
             "a death while a finished run deleted its checkpoints", kUsual,
             DeletionAtTheEndInterrupted},
    GoalInfo{"resumed-after-pause",
             "a worker was paused or hung, and finished in that incarnation",
             kUsual, PauseSleptOff},
    GoalInfo{"hang-detected", "a task hung, and the worker was killed for it",
             kUsual, HangNoticed},
    GoalInfo{"load-retried",
             "a read failed in a load, and the same incarnation resumed",
             kUsual, LoadErrorGotOver},
    GoalInfo{"load-error-ended-the-incarnation",
             "a read failed in a load, and that incarnation did not resume",
             kUsual, LoadErrorEndedTheIncarnation},
    GoalInfo{"damaged-while-being-loaded",
             "a file was damaged after its load had begun", kUsual,
             DamagedWhileBeingLoaded},
    GoalInfo{"three-faults", "three faults fired in one run", kUsual,
             ThreeFaultsFired},
    GoalInfo{"took-a-survivors-step-ahead",
             "a survivor took the state of another one that was further",
             kUsual, TookASurvivorsStepAhead},
    GoalInfo{"chief-rejoined",
             "the chief died, and its next incarnation took the others' state",
             kUsual, ChiefRejoined},
    GoalInfo{
        "went-on-with-fewer",
        "the run scaled down: it finished without a worker that kept failing",
        kUsual, WentOnWithFewer},
    GoalInfo{"died-while-rejoining",
             "a worker died as it rejoined, sent its state or took another's",
             kRare, DiedWhileRejoining},
    GoalInfo{"rejoin-resumed-from-older-checkpoint",
             "workers left a generation to rejoin, and a later one resumed "
             "from a checkpoint",
             kUsual, RejoinFellBack},
    GoalInfo{"rejoined-twice",
             "one process resumed from memory in two generations", kUsual,
             RejoinedTwice},
    GoalInfo{"lost-save-replaced",
             "a save that a death interrupted was made by the next generation",
             kUsual, MadeUpForASave},
    GoalInfo{"freed-room-for-a-save",
             "a full disk made retention delete an older checkpoint", kRare,
             FreedRoomForASave},
    GoalInfo{"gave-up-the-last-save", "the final save failed after all retries",
             kRare, GaveUpTheLastSave},
};
static_assert(kTable.size() <= kMaxGoals);

}  // namespace

std::span<const GoalInfo> AllGoals() { return kTable; }

GoalSet GoalsMetBy(const Outline& outline) {
  GoalScene scene = {.outline = outline, .phases = {}};
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    scene.phases.push_back(PhaseOf(outline, occurrence));
  }
  GoalSet goals;
  for (size_t i = 0; i < kTable.size(); ++i) goals[i] = kTable[i].holds(scene);
  return goals;
}

}  // namespace gauntlet
