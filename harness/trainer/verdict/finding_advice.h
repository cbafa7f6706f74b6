// Advice on findings of a crash test: how to change the program.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_FINDING_ADVICE_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_FINDING_ADVICE_H_

#include <set>
#include <string>
#include <vector>

#include "harness/trainer/run/crash_trial.h"
#include "harness/trainer/verdict/crash_findings.h"

namespace gauntlet {

// Returns how to change the program, so that it recovers from the crashes of
// the finding. `logs`: see CrashTestResult.
// - Only logs differ: the program is right; leave them out of the comparison.
// - The control gives different results too: save the missing state.
// - A file is written in place: write a temporary file, and rename it.
// - A power loss undid operations on a file that is renamed: add the missing
//   fsync of the file before the rename, or of the directory after it. If work
//   was lost, this advice comes before that on files written in place.
// - Work is lost after a kill or a torn write: read the newest complete
//   checkpoint.
// - The run fails or hangs after a kill or a torn write: skip unfinished files.
// Returns "" for other findings.
std::string AdviceOnFinding(const TrainerFinding& finding,
                            const std::vector<CrashTrial>& trials,
                            const std::set<std::string>& logs);

// Returns "a is written in place" for files that the program writes in place
// and that the crashes of the finding left unfinished. Returns "" if there are
// none, or if they are not the cause of the finding.
std::string WrittenInPlaceText(const TrainerFinding& finding,
                               const std::vector<CrashTrial>& trials);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_FINDING_ADVICE_H_
