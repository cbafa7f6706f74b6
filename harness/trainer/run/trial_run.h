// The process of a trial.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_RUN_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_RUN_H_

#include <string>

namespace gauntlet {

// Runs the trial of the folder's kTrialFile, and writes its kTrialEndFile: the
// end, or a Status in its place. Returns the exit code of this process: 0 if it
// wrote that file. Call it once, from a process of one thread.
int RunTrialProcess(const std::string& folder);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_RUN_H_
