#include "harness/explore/coverage/marks.h"

#include <array>

#include "harness/explore/coverage/mark_predicates.h"
#include "harness/explore/coverage/rejoin_marks.h"

namespace gauntlet {
namespace {

constexpr MarkRarity kUsual = MarkRarity::kUsual;
constexpr MarkRarity kRare = MarkRarity::kRare;

constexpr std::array kTable = {
    MarkInfo{"died-while-recovering",
             "a worker died in a later incarnation before it had a state",
             kUsual, DiedWhileRecovering},
    MarkInfo{"died-after-the-rename",
             "a death between a save's rename and its acknowledgement", kUsual,
             DiedAfterTheRename},
    MarkInfo{"died-in-an-evaluation", "a death while an evaluation was due",
             kUsual, DiedInAnEvaluation},
    MarkInfo{"power-cut-in-a-save", "power was lost during a save", kUsual,
             PowerCutInASave},
    MarkInfo{"power-cut-while-recovering",
             "power was lost before a later incarnation had a state", kUsual,
             PowerCutWhileRecovering},
    MarkInfo{"power-cut-twice", "power was lost twice in one run", kUsual,
             PowerCutTwice},
    MarkInfo{"fell-back",
             "a load rejected a damaged checkpoint and took another", kUsual,
             FellBack},
    MarkInfo{"refused",
             "no valid checkpoint was left, and the run refused to train",
             kUsual, Refused},
    MarkInfo{
        "claimed-without-a-step",
        "a generation resumed and ended without a step, and another followed",
        kUsual, ClaimedWithoutAStep},
    MarkInfo{"resumed-from-the-same-twice",
             "two generations in a row resumed from one checkpoint", kUsual,
             ResumedFromTheSameTwice},
    MarkInfo{"began-again-from-nothing",
             "a later generation made a cold start: nothing had been saved",
             kUsual, BeganAgainFromNothing},
    MarkInfo{"adopted-an-unacknowledged-save",
             "a restart resumed from a save that was not acknowledged", kUsual,
             AdoptedAnUnacknowledgedSave},
    MarkInfo{"saved-a-step-again",
             "a later generation saved what an earlier one had saved", kUsual,
             SavedAMomentAgain},
    MarkInfo{"save-failed-and-the-next-succeeded",
             "a save failed, and a later one of the same incarnation was "
             "acknowledged",
             kUsual, SaveFailedAndTheNextSucceeded},
    MarkInfo{"fault-in-the-third-incarnation",
             "a fault fired in a third incarnation or later", kUsual,
             FaultInTheThirdLife},
    MarkInfo{"chief-and-another-died",
             "the chief and another worker died of faults in one incarnation "
             "of the job",
             kUsual, ChiefAndAnotherDied},
    MarkInfo{"notice-in-an-evaluation",
             "a preemption notice while an evaluation was due", kUsual,
             NoticeInAnEvaluation},
    MarkInfo{"notice-in-a-save", "a preemption notice during a save", kUsual,
             NoticeInASave},
    MarkInfo{"notice-while-recovering",
             "a preemption notice before a later incarnation had a state",
             kUsual, NoticeWhileRecovering},
    MarkInfo{"stopped-and-went-on",
             "a job stopped on a notice, was started again and finished",
             kUsual, StoppedAndWentOn},
    MarkInfo{"finished-in-spite-of-a-notice",
             "a notice came so late that the run finished", kUsual,
             FinishedInSpiteOfANotice},
    MarkInfo{"grace-too-short", "a worker was killed before it had left",
             kUsual, GraceTooShort},
    MarkInfo{"two-claims-raced",
             "a worker was superseded while it claimed a generation", kUsual,
             TwoClaimsRaced},
    MarkInfo{"survivor-fenced", "a stale worker was superseded during a save",
             kUsual, SurvivorWasFenced},
    MarkInfo{
        "late-commit-void",
        "a checkpoint that a stale worker committed was found, and not read",
        kUsual, LateCommitWasFenced},
    MarkInfo{"retention-interrupted",
             "a death while an old checkpoint was being removed", kUsual,
             RetentionInterrupted},
    MarkInfo{"deletion-at-the-end-interrupted",
             "a death while a finished run deleted its checkpoints", kUsual,
             DeletionAtTheEndInterrupted},
    MarkInfo{"pause-slept-off",
             "a worker was paused or hung, and finished in that incarnation",
             kUsual, PauseSleptOff},
    MarkInfo{"hang-noticed", "a task hung, and the worker was killed for it",
             kUsual, HangNoticed},
    MarkInfo{"load-error-got-over",
             "a read failed in a load, and the same incarnation resumed",
             kUsual, LoadErrorGotOver},
    MarkInfo{"load-error-ended-the-incarnation",
             "a read failed in a load, and that incarnation did not resume",
             kUsual, LoadErrorEndedTheLife},
    MarkInfo{"damaged-while-being-loaded",
             "a file was damaged after its load had begun", kUsual,
             DamagedWhileBeingLoaded},
    MarkInfo{"three-faults", "three faults fired in one run", kUsual,
             ThreeFaultsFired},
    MarkInfo{"took-a-survivors-step-ahead",
             "a survivor took the state of another one that was further",
             kUsual, TookASurvivorsStepAhead},
    MarkInfo{"chief-rejoined",
             "the chief died, and its next incarnation took the others' state",
             kUsual, ChiefRejoined},
    MarkInfo{
        "went-on-with-fewer",
        "the run scaled down: it finished without a worker that kept failing",
        kUsual, WentOnWithFewer},
    MarkInfo{"died-while-rejoining",
             "a worker died as it rejoined, sent its state or took another's",
             kRare, DiedWhileRejoining},
    MarkInfo{"rejoin-fell-back",
             "workers left a generation to rejoin, and a later one resumed "
             "from a checkpoint",
             kUsual, RejoinFellBack},
    MarkInfo{"rejoined-twice",
             "one process resumed from memory in two generations", kUsual,
             RejoinedTwice},
    MarkInfo{"made-up-for-a-save",
             "a save that a death interrupted was made by the next generation",
             kUsual, MadeUpForASave},
    MarkInfo{"freed-room-for-a-save",
             "a full disk made retention delete an older checkpoint", kRare,
             FreedRoomForASave},
    MarkInfo{"gave-up-the-last-save", "the final save failed after all retries",
             kRare, GaveUpTheLastSave},
};
static_assert(kTable.size() <= kMaxMarks);

}  // namespace

std::span<const MarkInfo> AllMarks() { return kTable; }

MarkSet MarksOf(const Outline& outline) {
  MarkScene scene = {.outline = outline, .phases = {}};
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    scene.phases.push_back(PhaseOf(outline, occurrence));
  }
  MarkSet marks;
  for (size_t i = 0; i < kTable.size(); ++i) marks[i] = kTable[i].holds(scene);
  return marks;
}

}  // namespace gauntlet
