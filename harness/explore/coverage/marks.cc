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
    MarkInfo{"power-cut-in-a-save", "the power went during a save", kUsual,
             PowerCutInASave},
    MarkInfo{"power-cut-while-recovering",
             "the power went before a later incarnation had a state", kUsual,
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
             "a termination notice while an evaluation was due", kUsual,
             NoticeInAnEvaluation},
    MarkInfo{"notice-in-a-save", "a termination notice during a save", kUsual,
             NoticeInASave},
    MarkInfo{"notice-while-recovering",
             "a termination notice before a later incarnation had a state",
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
             "a worker learned while it claimed that another had claimed since",
             kUsual, TwoClaimsRaced},
    MarkInfo{"survivor-fenced",
             "a late survivor learned in a save that it is of an old "
             "generation",
             kUsual, SurvivorWasFenced},
    MarkInfo{"late-commit-void",
             "what a late survivor had committed was found, and not read",
             kUsual, LateCommitWasFenced},
    MarkInfo{"retention-interrupted",
             "a death while an old checkpoint was being removed", kUsual,
             RetentionInterrupted},
    MarkInfo{"deletion-at-the-end-interrupted",
             "a death while a finished run's backup was being deleted", kUsual,
             DeletionAtTheEndInterrupted},
    MarkInfo{
        "pause-slept-off",
        "a worker stood still for a while, and finished in that incarnation",
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
    MarkInfo{"went-on-with-fewer",
             "a worker that kept failing was left out, and the others finished",
             kUsual, WentOnWithFewer},
    MarkInfo{"died-while-rejoining",
             "a worker died as it rejoined, sent its state or took another's",
             kRare, DiedWhileRejoining},
    MarkInfo{"rejoin-fell-back",
             "workers left a generation to rejoin, and a later one went on "
             "from a checkpoint",
             kUsual, RejoinFellBack},
    MarkInfo{"rejoined-twice", "one process carried on in two generations",
             kUsual, RejoinedTwice},
    MarkInfo{"made-up-for-a-save",
             "a save that a death cut short was made by the next generation",
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
