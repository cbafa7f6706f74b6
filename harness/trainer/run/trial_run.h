// The main function of a trial's process.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_RUN_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_RUN_H_

#include <string>

namespace gauntlet {

// Runs the trial in the folder's kTrialFile, and writes kTrialEndFile: the end,
// or a Status instead. Returns the exit code of this process: 0 if it wrote
// that file. Call it once, from a process with a single thread.
int RunTrialProcess(const std::string& folder);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_RUN_H_
