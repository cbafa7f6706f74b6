// The main function of a run's process.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_RUN_MAIN_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_RUN_MAIN_H_

#include <string>

namespace gauntlet {

// Runs the program as the folder's kRunFile says, and writes kRunEndFile: the
// end, or a Status instead. Returns the exit code of this process: 0 if it
// wrote that file, kDiskFullExit if the disk is full. Call it once, from a
// process with a single thread.
int TrainerRunMain(const std::string& folder);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_RUN_MAIN_H_
