// Predicates of the coverage goals. The table in goals.cc describes the goals.
#ifndef GAUNTLET_HARNESS_EXPLORE_COVERAGE_GOAL_PREDICATES_H_
#define GAUNTLET_HARNESS_EXPLORE_COVERAGE_GOAL_PREDICATES_H_

#include "harness/explore/coverage/goals.h"

namespace gauntlet {

bool DiedWhileRecovering(const GoalScene& scene);
bool DiedAfterTheRename(const GoalScene& scene);
bool DiedInAnEvaluation(const GoalScene& scene);
bool PowerCutInASave(const GoalScene& scene);
bool PowerCutWhileRecovering(const GoalScene& scene);
bool PowerCutTwice(const GoalScene& scene);
bool FellBack(const GoalScene& scene);
bool Refused(const GoalScene& scene);
bool ClaimedWithoutAStep(const GoalScene& scene);
bool ResumedFromTheSameTwice(const GoalScene& scene);
bool BeganAgainFromNothing(const GoalScene& scene);
bool AdoptedAnUnacknowledgedSave(const GoalScene& scene);
bool SavedAPositionAgain(const GoalScene& scene);
bool SaveFailedAndTheNextSucceeded(const GoalScene& scene);
bool FaultInTheThirdIncarnation(const GoalScene& scene);
bool ChiefAndAnotherDied(const GoalScene& scene);
bool NoticeInAnEvaluation(const GoalScene& scene);
bool NoticeInASave(const GoalScene& scene);
bool NoticeWhileRecovering(const GoalScene& scene);
bool StoppedAndWentOn(const GoalScene& scene);
bool FinishedInSpiteOfANotice(const GoalScene& scene);
bool GraceTooShort(const GoalScene& scene);
bool TwoClaimsRaced(const GoalScene& scene);
bool StaleWorkerWasFenced(const GoalScene& scene);
bool LateCommitWasFenced(const GoalScene& scene);
bool RetentionInterrupted(const GoalScene& scene);
bool DeletionAtTheEndInterrupted(const GoalScene& scene);
bool PauseSleptOff(const GoalScene& scene);
bool HangNoticed(const GoalScene& scene);
bool LoadErrorGotOver(const GoalScene& scene);
bool LoadErrorEndedTheIncarnation(const GoalScene& scene);
bool DamagedWhileBeingLoaded(const GoalScene& scene);
bool ThreeFaultsFired(const GoalScene& scene);
bool FreedRoomForASave(const GoalScene& scene);
bool GaveUpTheLastSave(const GoalScene& scene);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_COVERAGE_GOAL_PREDICATES_H_
