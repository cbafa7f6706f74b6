// Predicates of the coverage goals. The table in marks.cc describes the goals.
#ifndef GAUNTLET_HARNESS_EXPLORE_COVERAGE_MARK_PREDICATES_H_
#define GAUNTLET_HARNESS_EXPLORE_COVERAGE_MARK_PREDICATES_H_

#include "harness/explore/coverage/marks.h"

namespace gauntlet {

bool DiedWhileRecovering(const MarkScene& scene);
bool DiedAfterTheRename(const MarkScene& scene);
bool DiedInAnEvaluation(const MarkScene& scene);
bool PowerCutInASave(const MarkScene& scene);
bool PowerCutWhileRecovering(const MarkScene& scene);
bool PowerCutTwice(const MarkScene& scene);
bool FellBack(const MarkScene& scene);
bool Refused(const MarkScene& scene);
bool ClaimedWithoutAStep(const MarkScene& scene);
bool ResumedFromTheSameTwice(const MarkScene& scene);
bool BeganAgainFromNothing(const MarkScene& scene);
bool AdoptedAnUnacknowledgedSave(const MarkScene& scene);
bool SavedAMomentAgain(const MarkScene& scene);
bool SaveFailedAndTheNextSucceeded(const MarkScene& scene);
bool FaultInTheThirdLife(const MarkScene& scene);
bool ChiefAndAnotherDied(const MarkScene& scene);
bool NoticeInAnEvaluation(const MarkScene& scene);
bool NoticeInASave(const MarkScene& scene);
bool NoticeWhileRecovering(const MarkScene& scene);
bool StoppedAndWentOn(const MarkScene& scene);
bool FinishedInSpiteOfANotice(const MarkScene& scene);
bool GraceTooShort(const MarkScene& scene);
bool TwoClaimsRaced(const MarkScene& scene);
bool SurvivorWasFenced(const MarkScene& scene);
bool LateCommitWasFenced(const MarkScene& scene);
bool RetentionInterrupted(const MarkScene& scene);
bool DeletionAtTheEndInterrupted(const MarkScene& scene);
bool PauseSleptOff(const MarkScene& scene);
bool HangNoticed(const MarkScene& scene);
bool LoadErrorGotOver(const MarkScene& scene);
bool LoadErrorEndedTheLife(const MarkScene& scene);
bool DamagedWhileBeingLoaded(const MarkScene& scene);
bool ThreeFaultsFired(const MarkScene& scene);
bool FreedRoomForASave(const MarkScene& scene);
bool GaveUpTheLastSave(const MarkScene& scene);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_COVERAGE_MARK_PREDICATES_H_
