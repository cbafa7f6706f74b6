// Main function of `gauntlet trainer-run FOLDER`, the process of one run.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_RUN_MAIN_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_RUN_MAIN_H_

#include <string>

namespace gauntlet {

// Reads a TrainerRun from kRunFile in the folder and runs its program. Writes
// the TrainerRunEnd to kRunEndFile; if there is none, writes the error instead.
// Returns the exit code of this process: 0 if kRunEndFile was written,
// kDiskFullExit if the disk was too full for it, else 1.
//
// Closes all descriptors of this process but the standard ones. REQUIRES: the
// process has a single thread, and calls this once.
int TrainerRunMain(const std::string& folder);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_RUN_MAIN_H_
